import type { GeminiPart } from './gemini-request.ts';

/** A function call of the model; Gemini itself often sends no `id`. */
export interface GeminiCall {
  readonly name: string;
  readonly args?: Record<string, unknown>;
  readonly id?: string;
}

/** An error answer as Google writes it; `status` is the HTTP status. */
export interface GeminiFailure {
  readonly status: number;
  readonly message?: string;
  /** Seconds, sent both as `Retry-After` and as a `RetryInfo` detail. */
  readonly retryAfter?: number;
}

/**
 * What the double answers. Parts come in the order thought, text or chunks, calls; a streamed answer sends one
 * frame for each of them, a unary answer joins them. Everything is optional: `{}` is a candidate with an empty text.
 */
export interface GeminiReply {
  readonly thought?: string;
  /** Base64; rides on the first call, else on the last other part. */
  readonly thoughtSignature?: string;
  readonly text?: string;
  /** The text in pieces; an array of parts is sent as it is. */
  readonly chunks?: readonly (string | readonly GeminiPart[])[];
  readonly calls?: readonly GeminiCall[];
  /** One frame for each call instead of all calls in one frame. */
  readonly callPerFrame?: boolean;
  /** Default `STOP`; `null` sends none. */
  readonly finishReason?: string | null;
  /** The SDK (3.1.0) drops it on the way to its caller when it uses an API key. */
  readonly finishMessage?: string;
  /** A candidate that carries a finish reason only. */
  readonly withoutContent?: boolean;
  /** No candidates at all; `blockReason` then says why. */
  readonly withoutCandidates?: boolean;
  readonly blockReason?: string;
  readonly blockMessage?: string;
  readonly usage?: Record<string, unknown>;
  /** More fields of the (last) candidate, such as `groundingMetadata` or `avgLogprobs`. */
  readonly candidate?: Record<string, unknown>;
  readonly failure?: GeminiFailure;
  /** Milliseconds before the answer, and between the frames of a stream. */
  readonly delayMs?: number;
  /** The answer waits for this promise. */
  readonly after?: Promise<unknown>;
  /** The frames of a stream after the first wait for this promise. */
  readonly pause?: Promise<unknown>;
  /**
   * How the connection misbehaves after the first frame of a stream (or, unary, after half the body):
   * `cut` ends a stream in the middle of its second frame as if that were all, `reset` resets the socket (which may lose
   * the first frame), `half-close` sends FIN and keeps reading, `stall` sends nothing more. Unary, `cut` is `half-close`.
   */
  readonly broken?: 'cut' | 'reset' | 'half-close' | 'stall';
  /** The same before any byte of the answer, status line included. */
  readonly brokenAtOnce?: 'reset' | 'stall';
  /** An error object sent as the last frame of a stream that began well. */
  readonly failureInStream?: GeminiFailure;
}

const googleStatus: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Google's error JSON for a failure. */
export function failureBody(failure: GeminiFailure): Record<string, unknown> {
  const status = googleStatus[failure.status] ?? 'UNKNOWN';
  const retry =
    failure.retryAfter === undefined
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${failure.retryAfter}s` }] };
  return {
    error: { code: failure.status, message: failure.message ?? `The double says ${status}.`, status, ...retry },
  };
}

function contentFrames(reply: GeminiReply): GeminiPart[][] {
  const calls = (reply.calls ?? []).map((call): GeminiPart => ({ functionCall: { ...call, args: call.args ?? {} } }));
  const frames: GeminiPart[][] = [
    ...(reply.thought === undefined ? [] : [[{ text: reply.thought, thought: true }]]),
    ...(reply.text === undefined ? [] : [[{ text: reply.text }]]),
    ...(reply.chunks ?? []).map((chunk) => (typeof chunk === 'string' ? [{ text: chunk }] : [...chunk])),
    ...(reply.callPerFrame ? calls.map((call) => [call]) : calls.length > 0 ? [calls] : []),
  ];
  if (frames.length === 0) frames.push([{ text: '' }]);
  if (reply.thoughtSignature === undefined) return frames;
  const flat = frames.flat();
  const signed = flat.find((part) => part.functionCall) ?? flat.at(-1);
  return frames.map((frame) =>
    frame.map((part) => (part === signed ? { ...part, thoughtSignature: reply.thoughtSignature } : part)),
  );
}

/** The response objects of a reply: one for each frame when streamed, else a single one. */
export function responseBodies(reply: GeminiReply, model: string, streaming: boolean): Record<string, unknown>[] {
  const usageMetadata = reply.usage ?? { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 };
  const envelope = { usageMetadata, modelVersion: model, responseId: 'double' };
  if (reply.withoutCandidates || reply.blockReason !== undefined) {
    const { blockReason, blockMessage: blockReasonMessage } = reply;
    return [{ ...(blockReason ? { promptFeedback: { blockReason, blockReasonMessage } } : {}), ...envelope }];
  }
  const { finishReason = 'STOP', finishMessage } = reply;
  const ending = { ...(finishReason === null ? {} : { finishReason }), finishMessage, ...reply.candidate };
  if (reply.withoutContent) return [{ candidates: [{ index: 0, ...ending }], ...envelope }];
  const frames = contentFrames(reply);
  const shown = streaming ? frames : [frames.flat()];
  return shown.map((parts, at) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...(at === shown.length - 1 ? ending : {}) }],
    ...envelope,
  }));
}
