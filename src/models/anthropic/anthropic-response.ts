import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import { type Part, withMetadata } from '../../schemas/content.ts';
import type { UsageMetadata } from '../../schemas/event.ts';
import { endedEarly, finishOf } from '../finish-reason.ts';

type Message = Anthropic.Messages.Message;
export type Ending = Pick<Message, 'stop_reason' | 'stop_details'>;
export type Usage = Partial<Anthropic.Messages.MessageDeltaUsage>;

/** The response of a call without streaming. */
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

/** `undefined` for steps of tools that Anthropic runs itself: the answer after them contains their results. */
export function toPart(block: Anthropic.Messages.ContentBlock): Part | undefined {
  if (block.type === 'text') return { text: block.text };
  if (block.type === 'thinking') return { text: block.thinking, thought: true, thoughtSignature: block.signature };
  if (block.type === 'redacted_thinking') {
    return withMetadata({ text: '', thought: true, thoughtSignature: block.data }, { redactedThinking: true });
  }
  if (block.type !== 'tool_use') return undefined;
  return { functionCall: { id: block.id, name: block.name, args: isJsonObject(block.input) ? block.input : {} } };
}

/** A refusal is an error, even after text. */
export const endingOf = (parts: readonly Part[], ending: Ending): ModelResponse =>
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

/** Token counts as Gemini defines them: the prompt includes cached tokens, thoughts are not part of the answer. */
export function usageOf(usage: Usage): UsageMetadata {
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
