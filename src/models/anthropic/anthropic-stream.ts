import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import { endedEarly } from '../finish-reason.ts';
import { type Ending, endingOf, toPart, type Usage, usageOf } from './anthropic-response.ts';

type StreamEvent = Anthropic.Messages.RawMessageStreamEvent;

/** Collects a streamed response. */
export interface AnthropicStream {
  /** The chunk for an event; undefined when it has no content. */
  add(event: StreamEvent): ModelResponse | undefined;
  /** The complete response; undefined when the stream broke before the model had finished. */
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
