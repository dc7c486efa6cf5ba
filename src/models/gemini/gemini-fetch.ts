import { retryAfterOf } from '../model-errors.ts';

/** Data of an HTTP response that the SDK does not expose. */
export interface CallWatch {
  /** Seconds, from the headers of an error response. */
  retryAfter?: number | undefined;
  /** The provider's message about an early end; the SDK (3.1.0) drops it when it uses an API key. */
  finishMessage?: string;
}

const KEY = '"finishMessage"';
const LONGEST = 16_384;
const finishMessage = /(?<!\\)"finishMessage"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** The platform's `fetch`; also writes what `watch` needs of the response. */
export function watchedFetch(watch: CallWatch): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok) {
      watch.retryAfter = retryAfterOf(response.headers);
      return response;
    }
    if (!response.body) return response;
    return new Response(response.body.pipeThrough(finishMessageReader(watch)), response);
  };
}

/** Passes bytes through untouched and remembers the last finish message among them. */
function finishMessageReader(watch: CallWatch): TransformStream<Uint8Array, Uint8Array> {
  let tail = '';
  return new TransformStream({
    transform(bytes, controller) {
      controller.enqueue(bytes);
      // Latin-1 keeps one character for each byte, so that a character split between chunks survives.
      const text = tail + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      for (const [, json = ''] of text.includes(KEY) ? text.matchAll(finishMessage) : []) {
        watch.finishMessage = JSON.parse(Buffer.from(json, 'latin1').toString('utf8')) as string;
      }
      const begun = text.lastIndexOf(KEY);
      tail = text.slice(begun >= 0 && text.length - begun < LONGEST ? begun : -KEY.length);
    },
  });
}
