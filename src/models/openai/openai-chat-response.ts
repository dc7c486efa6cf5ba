import type { OpenAI } from 'openai';
import type { JsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import type { UsageMetadata } from '../../schemas/event.ts';
import { endedEarly, finishOf } from '../finish-reason.ts';
import { MALFORMED, parseArguments } from './openai-common.ts';

type Completion = OpenAI.Chat.ChatCompletion;
type Chunk = OpenAI.Chat.ChatCompletionChunk;

/** Fields beyond OpenAI's definition: thoughts of open models, and Google's signatures. */
interface MessageFields {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
}

interface CallChunk {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
}

interface OpenCall {
  readonly index: number | undefined;
  readonly id: string;
  name: string;
  json: string;
  signature: string | undefined;
}

/** The response of a call without streaming. */
export function fromChat(completion: Completion): ModelResponse {
  const collected = chatResponse();
  const [choice] = completion.choices;
  if (choice) {
    collected.addMessage(choice.message);
    for (const [index, call] of (choice.message.tool_calls ?? []).entries()) collected.call({ index, ...call });
    collected.logprobs(choice.logprobs?.content);
  }
  return collected.whole(choice?.finish_reason, completion);
}

/** Collects a response, from one chunk or many. */
export function chatResponse() {
  let thought = '';
  let text = '';
  let refusal = '';
  const calls: OpenCall[] = [];
  const logprobs: number[] = [];

  return {
    /** Adds the texts of a message, and returns them as parts. */
    addMessage(fields: MessageFields): Part[] {
      const parts: Part[] = [];
      const thinking = fields.reasoning_content || fields.reasoning;
      if (thinking) parts.push({ text: thinking, thought: true });
      for (const content of [fields.content, fields.refusal]) if (content) parts.push({ text: content });
      thought += thinking ?? '';
      text += fields.content ?? '';
      refusal += fields.refusal ?? '';
      return parts;
    },
    /** Adds a chunk of a call. Servers identify calls by index, by id, or by both. */
    call(chunk: CallChunk): void {
      let open = calls.findLast((one) => one.index === chunk.index);
      if (!open || (chunk.id && chunk.id !== open.id)) {
        open = { index: chunk.index, id: chunk.id || `call_${calls.length}`, name: '', json: '', signature: undefined };
        calls.push(open);
      }
      open.name += chunk.function?.name ?? '';
      open.json += chunk.function?.arguments ?? '';
      open.signature ??= chunk.extra_content?.google?.thought_signature;
    },
    logprobs(tokens: readonly { readonly logprob: number }[] | null | undefined): void {
      for (const token of tokens ?? []) logprobs.push(token.logprob);
    },
    whole(reason: string | undefined, { usage, model }: Pick<Chunk, 'usage' | 'model'>): ModelResponse {
      const parts: Part[] = [];
      if (thought !== '') parts.push({ text: thought, thought: true });
      if (text + refusal !== '') parts.push({ text: text + refusal });
      const { parts: called, malformed } = callParts(calls);
      parts.push(...called);
      const end = refusal === '' ? finishOf(parts, finish(reason)) : endedEarly('SAFETY', refusal);
      return {
        ...(parts.length > 0 ? { content: { role: 'model', parts } } : {}),
        ...(malformed && end.finishReason === 'STOP' ? MALFORMED : end),
        ...(usage ? { usageMetadata: usageOf(usage) } : {}),
        ...(model ? { modelVersion: model } : {}),
        ...(logprobs.length > 0 ? { avgLogprobs: logprobs.reduce((sum, one) => sum + one, 0) / logprobs.length } : {}),
      };
    },
  };
}

function callParts(calls: readonly OpenCall[]): { parts: Part[]; malformed: boolean } {
  const parts: Part[] = [];
  for (const { id, name, json, signature } of calls) {
    const args: JsonObject | undefined = parseArguments(json);
    if (!args || name === '') continue;
    parts.push({ functionCall: { id, name, args }, ...(signature ? { thoughtSignature: signature } : {}) });
  }
  return { parts, malformed: parts.length < calls.length };
}

function finish(reason: string | undefined): ModelResponse {
  switch (reason) {
    case 'stop':
    case 'tool_calls':
    case 'function_call':
      return { finishReason: 'STOP' };
    case 'length':
      return endedEarly('MAX_TOKENS', 'The model reached the limit of its answer');
    case 'content_filter':
      return endedEarly('SAFETY', 'The answer was held back by a filter');
    case undefined:
      return endedEarly('UNKNOWN_ERROR', 'The model gave no answer and no reason for it');
    default:
      return endedEarly('OTHER', `The model ended its answer early: ${reason}`);
  }
}

function usageOf(usage: OpenAI.CompletionUsage): UsageMetadata {
  const thoughts = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    promptTokenCount: usage.prompt_tokens,
    candidatesTokenCount: usage.completion_tokens - thoughts,
    totalTokenCount: usage.total_tokens,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  };
}
