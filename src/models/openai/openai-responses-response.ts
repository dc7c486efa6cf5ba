import type { OpenAI } from 'openai';
import type { ModelResponse } from '../../core/model.ts';
import { type Part, withMetadata } from '../../schemas/content.ts';
import type { UsageMetadata } from '../../schemas/event.ts';
import { endedEarly, finishOf } from '../finish-reason.ts';
import { modelError } from '../model-errors.ts';
import { MALFORMED, parseArguments } from './openai-common.ts';

type Answer = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseOutputItem;

/** The complete response. Throws ModelError when the provider reports a failure. */
export function fromResponses(answer: Answer, items: readonly Item[] = answer.output): ModelResponse {
  if (answer.status === 'failed') {
    const { code, message = 'The provider gives no reason' } = answer.error ?? {};
    throw modelError({ message, providerCode: code });
  }
  const parts: Part[] = [];
  let refusal = '';
  let malformed = false;
  for (const item of items) {
    if (item.type === 'message') {
      for (const content of item.content) {
        if (content.type === 'refusal') refusal += content.refusal;
        const text = content.type === 'refusal' ? content.refusal : content.text;
        parts.push({ text, ...(item.phase ? { partMetadata: { phase: item.phase } } : {}) });
      }
    } else if (item.type === 'reasoning') {
      const part = reasoningPart(item);
      if (part) parts.push(part);
    } else if (item.type === 'function_call') {
      const args = parseArguments(item.arguments);
      if (args) parts.push({ functionCall: { id: item.call_id, name: item.name, args } });
      else malformed = true;
    }
  }
  const end = refusal === '' ? finishOf(parts, finish(answer)) : endedEarly('SAFETY', refusal);
  return {
    ...(parts.length > 0 ? { content: { role: 'model', parts } } : {}),
    ...(malformed && end.finishReason === 'STOP' ? MALFORMED : end),
    ...(answer.usage ? { usageMetadata: usageOf(answer.usage) } : {}),
    ...(answer.model ? { modelVersion: answer.model } : {}),
  };
}

/** `undefined` for reasoning that has neither text nor data to send back. */
function reasoningPart(item: OpenAI.Responses.ResponseReasoningItem): Part | undefined {
  const paragraphs = item.summary.length > 0 ? item.summary : (item.content ?? []);
  const text = paragraphs.map(({ text: paragraph }) => paragraph).join('\n\n');
  if (text === '' && !item.encrypted_content) return undefined;
  const part = {
    ...(text !== '' && { text }),
    thought: true,
    ...(item.encrypted_content ? { thoughtSignature: item.encrypted_content } : {}),
  };
  return withMetadata(part, { reasoningId: item.id });
}

function finish({ status, incomplete_details: details }: Answer): ModelResponse {
  if (status === undefined || status === 'completed') return { finishReason: 'STOP' };
  if (details?.reason === 'max_output_tokens')
    return endedEarly('MAX_TOKENS', 'The model reached the limit of its answer');
  if (details?.reason === 'content_filter') return endedEarly('SAFETY', 'The answer was held back by a filter');
  return endedEarly('OTHER', `The model ended its answer early: ${details?.reason ?? status}`);
}

function usageOf(usage: OpenAI.Responses.ResponseUsage): UsageMetadata {
  const thoughts = usage.output_tokens_details?.reasoning_tokens ?? 0;
  const cached = usage.input_tokens_details?.cached_tokens ?? 0;
  return {
    promptTokenCount: usage.input_tokens,
    candidatesTokenCount: usage.output_tokens - thoughts,
    totalTokenCount: usage.total_tokens,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  };
}
