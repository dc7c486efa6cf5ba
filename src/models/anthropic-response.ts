import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../base/json.ts';
import type { ModelResponse } from '../core/model.ts';
import type { Part } from '../schemas/content.ts';
import type { UsageMetadata } from '../schemas/event.ts';
import { endedEarly, finishOf } from './finish-reason.ts';

type Message = Anthropic.Messages.Message;
type StreamEvent = Anthropic.Messages.RawMessageStreamEvent;
type Ending = Pick<Message, 'stop_reason' | 'stop_details'>;
type Usage = Partial<Anthropic.Messages.MessageDeltaUsage>;

/** The whole answer of a call that was not streamed. */
export function fromAnthropic(message: Message): ModelResponse {
  const parts: Part[] = [];
  for (const block of message.content) {
    const part = toPart(block);
    if (part) parts.push(part);
  }
  return {
    ...(parts.length > 0 ? { content: { role: 'model', parts } } : {}),
    ...endingOf(parts, message),
    usageMetadata: usageOf(message.usage),
    modelVersion: message.model,
  };
}

/** Steps of tools that Anthropic runs itself are left out: the answer that follows tells what came of them. */
function toPart(block: Anthropic.Messages.ContentBlock): Part | undefined {
  if (block.type === 'text') return { text: block.text };
  if (block.type === 'thinking') return { text: block.thinking, thought: true, thoughtSignature: block.signature };
  if (block.type === 'redacted_thinking') {
    return { text: '', thought: true, thoughtSignature: block.data, partMetadata: { redactedThinking: true } };
  }
  if (block.type !== 'tool_use') return undefined;
  return { functionCall: { id: block.id, name: block.name, args: isJsonObject(block.input) ? block.input : {} } };
}

/** A refusal is an error whatever was said before. */
const endingOf = (parts: readonly Part[], ending: Ending): ModelResponse =>
  ending.stop_reason === 'refusal' ? finish(ending) : finishOf(parts, finish(ending));

function finish({ stop_reason: reason, stop_details: details }: Ending): ModelResponse {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
    case 'pause_turn':
      return { finishReason: 'STOP' };
    case 'max_tokens':
      return endedEarly('MAX_TOKENS', 'The model reached the limit of its answer');
    case 'model_context_window_exceeded':
      return endedEarly('MAX_TOKENS', 'The conversation reached the limit of the model');
    case 'refusal':
      return endedEarly('SAFETY', details?.explanation ?? 'The model refused to answer');
    case null:
      return endedEarly('OTHER', 'The model ended its answer without a reason');
    default:
      return endedEarly('OTHER', `The model ended its answer early: ${String(reason)}`);
  }
}

/** Counts in Gemini's terms: the prompt includes what was cached, thoughts are apart from the answer. */
function usageOf(usage: Usage): UsageMetadata {
  const cached = usage.cache_read_input_tokens ?? 0;
  const prompt = (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached;
  const output = usage.output_tokens ?? 0;
  const thoughts = usage.output_tokens_details?.thinking_tokens ?? 0;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output - thoughts,
    totalTokenCount: prompt + output,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  };
}

/** Collects a streamed answer. */
export interface AnthropicStream {
  /** The partial response of an event; undefined when it shows nothing. */
  add(event: StreamEvent): ModelResponse | undefined;
  /** The whole response; undefined when the stream broke off before the model was done. */
  end(): ModelResponse | undefined;
}

/** Joins the events of a stream block by block. */
export function anthropicStream(): AnthropicStream {
  const parts: Part[] = [];
  let usage: Usage = {};
  let model: string | undefined;
  let ending: Ending | undefined;
  let json = '';
  let malformed = false;

  const partial = (part: Part): ModelResponse => ({ content: { role: 'model', parts: [part] }, partial: true });

  const addDelta = (delta: Anthropic.Messages.RawContentBlockDelta): ModelResponse | undefined => {
    const part = parts.at(-1);
    if (!part) return undefined;
    if (delta.type === 'input_json_delta') json += delta.partial_json;
    if (delta.type === 'signature_delta') part.thoughtSignature = (part.thoughtSignature ?? '') + delta.signature;
    const text = delta.type === 'text_delta' ? delta.text : delta.type === 'thinking_delta' ? delta.thinking : '';
    if (text === '') return undefined;
    part.text = (part.text ?? '') + text;
    return partial(delta.type === 'thinking_delta' ? { text, thought: true } : { text });
  };

  const closeBlock = (): ModelResponse | undefined => {
    const part = parts.at(-1);
    if (part?.functionCall) {
      const args = json === '' ? (part.functionCall.args ?? {}) : parsed(json);
      if (args) part.functionCall.args = args;
      else parts.pop();
      malformed ||= !args;
      return args ? partial({ functionCall: { ...part.functionCall } }) : undefined;
    }
    if (part && part.text === '' && !part.thoughtSignature) parts.pop();
    return undefined;
  };

  return {
    add(event) {
      if (event.type === 'content_block_delta') return addDelta(event.delta);
      if (event.type === 'content_block_stop') return closeBlock();
      if (event.type === 'content_block_start') {
        json = '';
        parts.push(toPart(event.content_block) ?? { text: '' });
      } else if (event.type === 'message_start') {
        ({ model, usage } = event.message);
      } else if (event.type === 'message_delta') {
        ending = event.delta;
        usage = { ...usage, ...withoutNulls(event.usage) };
      }
      return undefined;
    },
    end() {
      if (!ending) return undefined;
      const cut = malformed && ending.stop_reason === 'tool_use';
      return {
        ...(parts.length > 0 ? { content: { role: 'model', parts } } : {}),
        ...(cut
          ? endedEarly('MALFORMED_FUNCTION_CALL', 'The arguments of a call are not JSON')
          : endingOf(parts, ending)),
        usageMetadata: usageOf(usage),
        ...(model ? { modelVersion: model } : {}),
      };
    },
  };
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const withoutNulls = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null));
