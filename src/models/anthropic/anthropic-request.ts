import type { Anthropic } from '@anthropic-ai/sdk';
import type { JsonObject } from '../../base/json.ts';
import type { GenerateConfig, ModelRequest } from '../../core/model.ts';
import { type FunctionResponse, type Part, partMetadata } from '../../schemas/content.ts';
import { callingMode } from '../calling-mode.ts';
import { attachedText, attachmentNote, codeText, standardBase64 } from '../media.ts';
import { pairedTurns, type Turn } from '../paired-turns.ts';
import { claudeFeatures, type ClaudeFeatures } from './claude-features.ts';
import { closedSchema } from './closed-schema.ts';

type Body = Anthropic.Messages.MessageCreateParamsNonStreaming;
type Block = Anthropic.Messages.ContentBlockParam;
type ResultBlock = Exclude<Anthropic.Messages.ToolResultBlockParam['content'], string | undefined>[number];

/** A request for Anthropic's SDK, and its additional headers. */
export interface AnthropicCall {
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
}

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
/** The last version of the API that accepts sampling settings; later versions reject them for every model. */
const VERSION_WITH_SAMPLING = '2023-06-01';
const LEAST_THINKING = 1_024;
const USUAL_THINKING = 4_096;

/** The request in the format of Anthropic's Messages API. `model` is the name without our prefix. */
export function toAnthropicCall(request: ModelRequest, model: string): AnthropicCall {
  const { config } = request;
  const features = claudeFeatures(model);
  const { thinking, effort, tokens } = thinkingOf(config, features);
  const maxTokens = config.maxOutputTokens ?? features.maxTokens;
  const sampling = thinking === undefined || thinking.type === 'disabled' ? samplingOf(config, features) : {};
  const tools = toolsOf(config);
  const choice = tools.length > 0 ? toolChoiceOf(config) : undefined;
  const schema = features.structuredOutput ? config.responseSchema : undefined;
  const output = {
    ...(effort ? { effort } : {}),
    ...(schema ? { format: { type: 'json_schema' as const, schema: closedSchema(schema) } } : {}),
  };
  const system = systemOf(config, schema === undefined);
  const body: Body = {
    model,
    // Thinking tokens count, too, so the limit must leave room for an answer.
    max_tokens: tokens >= maxTokens ? tokens + LEAST_THINKING : maxTokens,
    messages: pairedTurns(request.contents).flatMap(toMessage),
    ...(system ? { system } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(thinking ? { thinking } : {}),
    ...(Object.keys(output).length > 0 ? { output_config: output } : {}),
    ...(config.stopSequences?.length ? { stop_sequences: config.stopSequences } : {}),
    ...(request.contextCache ? { cache_control: { type: 'ephemeral' } } : {}),
    ...sampling,
  };
  const headers: Record<string, string> =
    Object.keys(sampling).length > 0 ? { 'anthropic-version': VERSION_WITH_SAMPLING } : {};
  return { body, headers };
}

function toMessage({ role, parts }: Turn): Anthropic.Messages.MessageParam[] {
  const content = parts.flatMap((part) => toBlock(part, role));
  return content.length > 0 ? [{ role: role === 'model' ? 'assistant' : 'user', content }] : [];
}

function toBlock(part: Part, role: Turn['role']): Block[] {
  if (part.thought) return role === 'model' ? thinkingBlock(part) : [];
  if (part.functionCall) {
    const { id = '', name, args = {} } = part.functionCall;
    return [{ type: 'tool_use', id, name, input: args }];
  }
  if (part.functionResponse) return [toolResult(part.functionResponse)];
  if (part.inlineData ?? part.fileData) {
    // Only user messages may contain media.
    return [role === 'user' ? mediaBlock(part) : { type: 'text', text: attachmentNote(part) }];
  }
  const text = part.text ?? codeText(part) ?? '';
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Thinking is sent back exactly as it came, or not at all. */
function thinkingBlock(part: Part): Block[] {
  const { text = '', thoughtSignature } = part;
  if (thoughtSignature === undefined) return [];
  if (partMetadata(part)['redactedThinking'] === true) {
    return [{ type: 'redacted_thinking', data: thoughtSignature }];
  }
  return [{ type: 'thinking', thinking: text, signature: thoughtSignature }];
}

function mediaBlock(part: Part): Exclude<ResultBlock, { type: 'tool_reference' | 'browser_state' | 'search_result' }> {
  const { inlineData, fileData } = part;
  const type = (inlineData ?? fileData)?.mimeType ?? '';
  const uri = fileData?.fileUri ?? '';
  if (inlineData && imageTypes.has(type)) {
    const data = standardBase64(inlineData.data);
    const media = type as Anthropic.Messages.Base64ImageSource['media_type'];
    return { type: 'image', source: { type: 'base64', media_type: media, data } };
  }
  if (inlineData && type === 'application/pdf') {
    const data = standardBase64(inlineData.data);
    return { type: 'document', source: { type: 'base64', media_type: type, data } };
  }
  const text = attachedText(part);
  if (text) return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } };
  if (/^https?:/.test(uri)) {
    if (type === 'application/pdf') return { type: 'document', source: { type: 'url', url: uri } };
    if (type.startsWith('image/')) return { type: 'image', source: { type: 'url', url: uri } };
  }
  return { type: 'text', text: attachmentNote(part) };
}

function toolResult({ id = '', response, parts }: FunctionResponse): Anthropic.Messages.ToolResultBlockParam {
  const { result } = response;
  const text = typeof result === 'string' && Object.keys(response).length === 1 ? result : JSON.stringify(response);
  const media = (parts ?? []).map((part) => mediaBlock(part as Part));
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: media.length > 0 ? [{ type: 'text', text }, ...media] : text,
    ...('error' in response ? { is_error: true } : {}),
  };
}

function toolsOf({ tools = [] }: GenerateConfig): Anthropic.Messages.Tool[] {
  return tools
    .flatMap((entry) => entry.functionDeclarations ?? [])
    .map(({ name, description, parameters }) => {
      const { $schema: _, ...schema } = parameters ?? {};
      return { name, description, input_schema: { ...schema, type: 'object' } };
    });
}

function toolChoiceOf(config: GenerateConfig): Anthropic.Messages.ToolChoice | undefined {
  const { mode, names } = callingMode(config);
  if (mode === 'NONE') return { type: 'none' };
  if (mode !== 'ANY') return undefined;
  const [name] = names;
  return names.length === 1 && name !== undefined ? { type: 'tool', name } : { type: 'any' };
}

function systemOf({ systemInstruction, responseSchema, responseMimeType }: GenerateConfig, ask: boolean): string {
  const texts = systemInstruction ? [systemInstruction] : [];
  if (ask && responseSchema) texts.push(`Answer with JSON of this schema only: ${JSON.stringify(responseSchema)}`);
  else if (ask && responseMimeType === 'application/json') texts.push('Answer with JSON only.');
  return texts.join('\n\n');
}

/** Sampling settings: only older models accept them, and only without thinking. */
function samplingOf({ temperature, topP, topK }: GenerateConfig, { sampling }: ClaudeFeatures): JsonObject {
  if (sampling === 'none') return {};
  const both = sampling === 'all' || temperature === undefined;
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === undefined || !both ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
}

interface Thinking {
  readonly thinking?: Anthropic.Messages.ThinkingConfigParam;
  readonly effort?: 'low' | 'medium' | 'high';
  /** The limit of thinking tokens; 0 when the model decides. */
  readonly tokens: number;
}

/** Gemini's `thinkingConfig` (budget 0: off, -1: the model decides) as Anthropic's settings. */
function thinkingOf({ thinkingConfig }: GenerateConfig, features: ClaudeFeatures): Thinking {
  if (!thinkingConfig) return { tokens: 0 };
  const { thinkingBudget: budget, thinkingLevel: level, includeThoughts } = thinkingConfig;
  if (budget === 0) return { ...(features.thinkingCanBeOff ? { thinking: { type: 'disabled' } } : {}), tokens: 0 };
  const display = includeThoughts === false ? 'omitted' : 'summarized';
  if (features.adaptiveThinking) {
    const effort = effortOf(level);
    return { thinking: { type: 'adaptive', display }, tokens: 0, ...(effort ? { effort } : {}) };
  }
  const wanted = typeof budget === 'number' && budget > 0 ? budget : USUAL_THINKING;
  const tokens = Math.max(wanted, LEAST_THINKING);
  return { thinking: { type: 'enabled', budget_tokens: tokens }, tokens };
}

function effortOf(level: unknown): Thinking['effort'] {
  switch (String(level).toUpperCase()) {
    case 'MINIMAL':
    case 'LOW':
      return 'low';
    case 'MEDIUM':
      return 'medium';
    case 'HIGH':
      return 'high';
    default:
      return undefined;
  }
}
