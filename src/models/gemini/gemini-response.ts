import type { Candidate, GenerateContentResponse } from '@google/genai';
import type { JsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import { finishOf } from '../finish-reason.ts';

/** The response of a call without streaming. */
export function fromGemini(response: GenerateContentResponse, finishMessage?: string): ModelResponse {
  const [candidate] = response.candidates ?? [];
  if (!candidate) return { ...blocked(response), ...envelope(response) };
  const parts = (candidate.content?.parts ?? []) as Part[];
  const content = parts.length > 0 ? { content: { role: 'model', parts } } : {};
  return {
    ...content,
    ...finishOf(parts, finish(candidate, finishMessage)),
    ...details(candidate),
    ...envelope(response),
  };
}

/** The error of a response without candidates. */
export function blocked({ promptFeedback }: GenerateContentResponse): ModelResponse {
  const errorCode = promptFeedback?.blockReason ?? 'UNKNOWN_ERROR';
  const reason = promptFeedback?.blockReason
    ? `The prompt was blocked: ${promptFeedback.blockReason}`
    : 'The model gave no answer and no reason for it';
  return { errorCode, errorMessage: promptFeedback?.blockReasonMessage ?? reason };
}

/** The end of the response: any reason but STOP is an error, whatever the content. */
export function finish(candidate: Candidate, finishMessage?: string): ModelResponse {
  const finishReason: string | undefined = candidate.finishReason;
  if (!finishReason || finishReason === 'STOP') return finishReason ? { finishReason } : {};
  const errorMessage = candidate.finishMessage ?? finishMessage ?? `The model ended its answer early: ${finishReason}`;
  return { finishReason, errorCode: finishReason, errorMessage };
}

export function details(candidate: Candidate): ModelResponse {
  const { groundingMetadata, citationMetadata, avgLogprobs, logprobsResult } = candidate;
  return {
    ...(groundingMetadata ? { groundingMetadata: groundingMetadata as JsonObject } : {}),
    ...(citationMetadata ? { citationMetadata: citationMetadata as JsonObject } : {}),
    ...(avgLogprobs === undefined ? {} : { avgLogprobs }),
    ...(logprobsResult ? { logprobsResult: logprobsResult as JsonObject } : {}),
  };
}

export function envelope({ usageMetadata, modelVersion }: GenerateContentResponse): ModelResponse {
  return {
    ...(usageMetadata ? { usageMetadata } : {}),
    ...(modelVersion ? { modelVersion } : {}),
  };
}
