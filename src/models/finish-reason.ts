import type { ModelResponse } from '../core/model.ts';
import type { Part } from '../schemas/content.ts';

/** The error of a response that ended early. */
export const endedEarly = (reason: string, errorMessage: string): ModelResponse => ({
  finishReason: reason,
  errorCode: reason,
  errorMessage,
});

/**
 * The end of a response with these parts. Only a response without content is an error, as in ADK: a truncated text is
 * still a response, and its `finishReason` tells why it ended.
 */
export function finishOf(parts: readonly Part[], end: ModelResponse): ModelResponse {
  if (end.errorCode === undefined || parts.every(({ thought }) => thought)) return end;
  const { errorCode: _code, errorMessage: _message, ...rest } = end;
  return rest;
}
