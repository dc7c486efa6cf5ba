import { setImmediate as nextIteration } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { sendJsonStream } from './streamed-body.ts';

/** Milliseconds of writing spans before other requests may run: one span may contain a whole history. */
const sliceMs = 10;

/** Sends a list of spans of any length. */
export function sendSpans(reply: FastifyReply, spans: Iterable<object>): Promise<FastifyReply> {
  return sendJsonStream(reply, listPieces(spans));
}

/** The same as the field `spans` of an object with others. */
export function sendWithSpans(
  reply: FastifyReply,
  { spans, ...others }: { readonly spans: Iterable<object> },
): Promise<FastifyReply> {
  return sendJsonStream(reply, fieldPieces(others, spans));
}

async function* fieldPieces(others: object, spans: Iterable<object>): AsyncGenerator<string, void, void> {
  yield '{"spans":';
  yield* listPieces(spans);
  yield `,${JSON.stringify(others).slice(1)}`;
}

async function* listPieces(spans: Iterable<object>): AsyncGenerator<string, void, void> {
  let lead = '[';
  let sinceMs = performance.now();
  for (const span of spans) {
    yield lead + JSON.stringify(span);
    lead = ',';
    if (performance.now() - sinceMs < sliceMs) continue;
    await nextIteration();
    sinceMs = performance.now();
  }
  yield lead === '[' ? '[]' : ']';
}
