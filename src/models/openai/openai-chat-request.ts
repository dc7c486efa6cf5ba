import type { OpenAI } from 'openai';
import type { GenerateConfig, ModelRequest } from '../../core/model.ts';
import type { FunctionResponse, Part } from '../../schemas/content.ts';
import { attachedText, attachmentNote, codeText, standardBase64 } from '../media.ts';
import { pairedTurns, type Turn } from '../paired-turns.ts';
import { effortOf, jsonFormatOf, NO_PARAMETERS, reasons, toolChoiceOf } from './openai-common.ts';

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.Chat.ChatCompletionMessageParam;
type UserPart = OpenAI.Chat.ChatCompletionContentPart;
type ToolCall = OpenAI.Chat.ChatCompletionMessageFunctionToolCall;

/** Differences between servers with this API. */
export interface ChatDialect {
  /** The field for the output limit. */
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** Whether thought signatures are sent in `extra_content`, as Google's servers require. */
  readonly extraContent: boolean;
}

const audioFormats: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/** The request in the format of the chat completions API. `model` is the name without our prefix. */
export function toChatBody(request: ModelRequest, model: string, dialect: ChatDialect): Body {
  const { config } = request;
  const system = systemMessage(config, model);
  const turns = pairedTurns(request.contents).flatMap((turn) => toMessages(turn, dialect));
  const tools = toolsOf(config);
  const choice = tools.length > 0 ? toolChoiceOf(config) : undefined;
  const effort = effortOf(config, model);
  return {
    model,
    messages: system ? [system, ...turns] : turns,
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice } } : {}),
    ...(config.maxOutputTokens === undefined ? {} : { [dialect.maxTokens]: config.maxOutputTokens }),
    ...(effort ? { reasoning_effort: effort } : {}),
    ...(reasons(model) ? {} : samplingOf(config)),
    ...(config.seed === undefined ? {} : { seed: config.seed }),
    ...responseFormatOf(config),
  };
}

function systemMessage({ systemInstruction }: GenerateConfig, model: string): Message | undefined {
  if (!systemInstruction) return undefined;
  return { role: reasons(model) ? 'developer' : 'system', content: systemInstruction };
}

function toMessages({ role, parts }: Turn, dialect: ChatDialect): Message[] {
  return role === 'model' ? assistantMessage(parts, dialect) : userMessages(parts);
}

function assistantMessage(parts: readonly Part[], dialect: ChatDialect): Message[] {
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  for (const part of parts) {
    if (part.thought) continue;
    if (part.functionCall) calls.push(toToolCall(part, dialect));
    else if (part.inlineData ?? part.fileData) texts.push(attachmentNote(part));
    else texts.push(part.text ?? codeText(part) ?? '');
  }
  const content = texts.join('');
  if (content === '' && calls.length === 0) return [];
  return [{ role: 'assistant', content: content || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

function toToolCall({ functionCall, thoughtSignature }: Part, dialect: ChatDialect): ToolCall {
  const { id = '', name = '', args = {} } = functionCall ?? {};
  const extra =
    dialect.extraContent && thoughtSignature
      ? { extra_content: { google: { thought_signature: thoughtSignature } } }
      : {};
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) }, ...extra };
}

/** Function responses are separate messages; images in them go into the next user message. */
function userMessages(parts: readonly Part[]): Message[] {
  const messages: Message[] = [];
  const shown: UserPart[] = [];
  for (const part of parts) {
    const response = part.functionResponse;
    if (!response) {
      shown.push(...toUserPart(part));
      continue;
    }
    messages.push({ role: 'tool', tool_call_id: response.id ?? '', content: resultText(response) });
    const media = (response.parts ?? []).flatMap((one) => toUserPart(one as Part));
    if (media.length > 0) shown.push({ type: 'text', text: `From ${response.name}:` }, ...media);
  }
  if (shown.length > 0) messages.push({ role: 'user', content: joined(shown) });
  return messages;
}

/** A function response as text. */
export function resultText({ response }: FunctionResponse): string {
  const { result } = response;
  return typeof result === 'string' && Object.keys(response).length === 1 ? result : JSON.stringify(response);
}

/** Plain text where possible: some servers do not accept a list of text parts. */
function joined(parts: UserPart[]): string | UserPart[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n') : parts;
}

function toUserPart(part: Part): UserPart[] {
  const { inlineData, fileData } = part;
  if (part.thought) return [];
  if (!inlineData && !fileData) {
    const text = part.text ?? codeText(part) ?? '';
    return text === '' ? [] : [{ type: 'text', text }];
  }
  const type = (inlineData ?? fileData)?.mimeType ?? '';
  const isRemote = /^https?:/.test(fileData?.fileUri ?? '');
  if (fileData && isRemote && type.startsWith('image/')) {
    return [{ type: 'image_url', image_url: { url: fileData.fileUri } }];
  }
  if (inlineData && type.startsWith('image/')) return [{ type: 'image_url', image_url: { url: dataUri(inlineData) } }];
  const format = audioFormats[type];
  if (inlineData && format) {
    return [{ type: 'input_audio', input_audio: { data: standardBase64(inlineData.data), format } }];
  }
  if (inlineData && type === 'application/pdf') {
    const filename = inlineData.displayName ?? 'document.pdf';
    return [{ type: 'file', file: { filename, file_data: dataUri(inlineData) } }];
  }
  return [{ type: 'text', text: attachedText(part) ?? attachmentNote(part) }];
}

/** Media as a `data:` URL. */
export const dataUri = ({ mimeType, data }: { mimeType: string; data: string }): string =>
  `data:${mimeType};base64,${standardBase64(data)}`;

function toolsOf({ tools = [] }: GenerateConfig): OpenAI.Chat.ChatCompletionFunctionTool[] {
  return tools
    .flatMap((entry) => entry.functionDeclarations ?? [])
    .map(({ name, description, parameters = NO_PARAMETERS }) => {
      const { $schema: _, ...schema } = parameters;
      return { type: 'function', function: { name, description, parameters: schema } };
    });
}

function samplingOf(config: GenerateConfig): Partial<Body> {
  const { temperature, topP, stopSequences } = config;
  const { presencePenalty, frequencyPenalty, responseLogprobs, logprobs } = config as Record<
    string,
    number | undefined
  >;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stopSequences?.length ? { stop: stopSequences } : {}),
    ...(presencePenalty === undefined ? {} : { presence_penalty: presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequency_penalty: frequencyPenalty }),
    ...(responseLogprobs ? { logprobs: true, ...(logprobs === undefined ? {} : { top_logprobs: logprobs }) } : {}),
  };
}

function responseFormatOf({ responseSchema, responseMimeType }: GenerateConfig): Pick<Body, 'response_format'> {
  if (responseSchema) {
    return { response_format: { type: 'json_schema', json_schema: jsonFormatOf(responseSchema) } };
  }
  return responseMimeType === 'application/json' ? { response_format: { type: 'json_object' } } : {};
}
