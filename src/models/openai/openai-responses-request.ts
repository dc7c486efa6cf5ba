import type { OpenAI } from 'openai';
import type { GenerateConfig, ModelRequest } from '../../core/model.ts';
import { type FunctionResponse, type Part, partMetadata } from '../../schemas/content.ts';
import { attachedText, attachmentNote, codeText } from '../media.ts';
import { pairedTurns, type Turn } from '../paired-turns.ts';
import { dataUri, resultText } from './openai-chat-request.ts';
import { effortOf, jsonFormatOf, NO_PARAMETERS, reasons, toolChoiceOf } from './openai-common.ts';

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Item = OpenAI.Responses.ResponseInputItem;
type Shown =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

/**
 * The request in the format of the responses API. It is self-contained: the provider stores nothing, so reasoning is sent
 * back encrypted. `model` is the name without our prefix.
 */
export function toResponsesBody(request: ModelRequest, model: string): Body {
  const { config } = request;
  const tools = toolsOf(config);
  const choice = tools.length > 0 ? toolChoiceOf(config) : undefined;
  return {
    model,
    input: pairedTurns(request.contents).flatMap(toItems),
    store: false,
    ...(config.systemInstruction ? { instructions: config.systemInstruction } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: typeof choice === 'string' ? choice : { type: 'function', ...choice } } : {}),
    ...(config.maxOutputTokens === undefined ? {} : { max_output_tokens: config.maxOutputTokens }),
    ...(reasons(model) ? reasoningOf(config, model) : samplingOf(config)),
    ...textFormatOf(config),
  };
}

function toItems({ role, parts }: Turn): Item[] {
  return role === 'model' ? parts.flatMap(modelItem) : userItems(parts);
}

function modelItem(part: Part): Item[] {
  if (part.thought) return reasoningItem(part);
  if (part.functionCall) {
    const { id = '', name, args = {} } = part.functionCall;
    return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) }];
  }
  const text = part.inlineData || part.fileData ? attachmentNote(part) : (part.text ?? codeText(part) ?? '');
  if (text === '') return [];
  const phase = partMetadata(part)['phase'];
  const message: OpenAI.Responses.EasyInputMessage = { type: 'message', role: 'assistant', content: text };
  if (phase === 'commentary' || phase === 'final_answer') message.phase = phase;
  return [message];
}

/** Reasoning is sent back exactly as it came, or not at all. */
function reasoningItem(part: Part): Item[] {
  const id = partMetadata(part)['reasoningId'];
  if (typeof id !== 'string' || !part.thoughtSignature) return [];
  const summary = part.text ? [{ type: 'summary_text' as const, text: part.text }] : [];
  return [{ type: 'reasoning', id, summary, encrypted_content: part.thoughtSignature }];
}

function userItems(parts: readonly Part[]): Item[] {
  const items: Item[] = [];
  const content: Shown[] = [];
  for (const part of parts) {
    if (part.functionResponse) items.push(resultItem(part.functionResponse));
    else if (!part.thought) content.push(...toShown(part));
  }
  if (content.length > 0) items.push({ type: 'message', role: 'user', content });
  return items;
}

function resultItem(response: FunctionResponse): Item {
  const media = (response.parts ?? []).flatMap((part) => toShown(part as Part));
  const text = resultText(response);
  const output = media.length > 0 ? [{ type: 'input_text' as const, text }, ...media] : text;
  return { type: 'function_call_output', call_id: response.id ?? '', output };
}

function toShown(part: Part): Shown[] {
  const { inlineData, fileData } = part;
  if (!inlineData && !fileData) {
    const text = part.text ?? codeText(part) ?? '';
    return text === '' ? [] : [{ type: 'input_text', text }];
  }
  const type = (inlineData ?? fileData)?.mimeType ?? '';
  const url = inlineData ? dataUri(inlineData) : (fileData?.fileUri ?? '');
  if (/^(?:data|https?):/.test(url)) {
    if (type.startsWith('image/')) return [{ type: 'input_image', detail: 'auto', image_url: url }];
    if (type === 'application/pdf') {
      const filename = inlineData?.displayName ?? 'document.pdf';
      return [{ type: 'input_file', ...(inlineData ? { filename, file_data: url } : { file_url: url }) }];
    }
  }
  return [{ type: 'input_text', text: attachedText(part) ?? attachmentNote(part) }];
}

function toolsOf({ tools = [] }: GenerateConfig): OpenAI.Responses.FunctionTool[] {
  return tools
    .flatMap((entry) => entry.functionDeclarations ?? [])
    .map(({ name, description, parameters = NO_PARAMETERS }) => {
      const { $schema: _, ...schema } = parameters;
      return { type: 'function', name, description, parameters: schema, strict: false };
    });
}

function reasoningOf(config: GenerateConfig, model: string): Partial<Body> {
  const effort = effortOf(config, model);
  const summary = config.thinkingConfig && config.thinkingConfig['includeThoughts'] !== false ? 'auto' : undefined;
  const reasoning = { ...(effort ? { effort } : {}), ...(summary ? { summary: 'auto' as const } : {}) };
  return {
    include: ['reasoning.encrypted_content'],
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
  };
}

function samplingOf({ temperature, topP }: GenerateConfig): Partial<Body> {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

function textFormatOf({ responseSchema, responseMimeType }: GenerateConfig): Pick<Body, 'text'> {
  if (responseSchema) return { text: { format: { type: 'json_schema', ...jsonFormatOf(responseSchema) } } };
  return responseMimeType === 'application/json' ? { text: { format: { type: 'json_object' } } } : {};
}
