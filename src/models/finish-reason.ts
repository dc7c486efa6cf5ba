import type { ModelResponse } from '../core/model.ts';
import type { Part } from '../schemas/content.ts';

/** An end of an answer before its time, as an error. */
export const endedEarly = (reason: string, errorMessage: string): ModelResponse => ({
  finishReason: reason,
  errorCode: reason,
  errorMessage,
});

/**
 * The end of an answer that has these parts. Only an answer without anything to show is an error, as in ADK: a text that
 * was cut off is an answer still, and its `finishReason` says what became of it.
 */
export function finishOf(parts: readonly Part[], end: ModelResponse): ModelResponse {
  if (end.errorCode === undefined || parts.every(({ thought }) => thought)) return end;
  const { errorCode: _code, errorMessage: _message, ...rest } = end;
  return rest;
}
