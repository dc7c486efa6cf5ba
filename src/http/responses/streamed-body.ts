import { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { endOfIteration } from '../../base/event-loop.ts';
import { jsonType } from '../mount.ts';

/** Bytes of JSON per write. A text that fits for certain is sent at once, with its length. */
const chunkBytes = 256 * 1024;
/** Bytes of UTF-8 that a unit of a JavaScript string can take. */
const maxBytesPerUnit = 3;
const stallMs = 60_000;

/**
 * Sends bytes no faster than the client reads them. Disconnects a client that reads nothing for a minute. An error of the
 * first read becomes a problem response; a later one aborts the response.
 */
export function sendBytes(reply: FastifyReply, bytes: AsyncIterable<Uint8Array>): FastifyReply {
  reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
  return reply.send(Readable.from(tellingFailures(reply, bytes), { objectMode: false, highWaterMark: 1 }));
}

/** Aborts a started response with the error of the source: Fastify would hide it. */
async function* tellingFailures(
  reply: FastifyReply,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* bytes;
  } catch (error) {
    if (reply.raw.headersSent) reply.raw.destroy(error as Error);
    throw error;
  }
}

/**
 * Sends JSON text made of pieces of any length, so that the whole text never is in memory. Reads pieces as the client
 * reads, and yields to other requests after each 256 KB.
 */
export async function sendJsonStream(
  reply: FastifyReply,
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<FastifyReply> {
  const rest = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  const first: string[] = [];
  let units = 0;
  while (units * maxBytesPerUnit <= chunkBytes) {
    const next = rest.next();
    const { done, value } = next instanceof Promise ? await next : next; // waiting for each would cost more than sending it
    if (done === true) return await sendJsonText(reply, first.join(''));
    first.push(value);
    units += value.length;
  }
  reply.header('content-type', jsonType);
  return sendBytes(reply, packed(first, rest));
}

/** Sends JSON text, together with other responses of this event-loop iteration. */
export async function sendJsonText(reply: FastifyReply, text: string): Promise<FastifyReply> {
  await endOfIteration();
  return reply.header('content-type', jsonType).send(text);
}

/** The text of a JSON list, an item at a time; `head` and `tail` stand around it. */
export function* listPieces(items: Iterable<unknown>, head = '', tail = ''): Generator<string, void, void> {
  yield `${head}[`;
  let comma = '';
  for (const item of items) {
    yield comma + JSON.stringify(item);
    comma = ',';
  }
  yield `]${tail}`;
}

/** The texts as bytes, in blocks of one size. Joining the texts first would cost several times as much. */
async function* packed(
  first: readonly string[],
  rest: Iterator<string, void> | AsyncIterator<string, void>,
): AsyncGenerator<Uint8Array, void, void> {
  const chunk = new Chunk();
  const given = first.values();
  try {
    for (let source: typeof rest = given; ;) {
      const next = source.next();
      const { done, value } = next instanceof Promise ? await next : next;
      if (done === true) {
        if (source === rest) break;
        source = rest;
        continue;
      }
      for (let left = chunk.add(value); left !== ''; left = chunk.add(left)) {
        yield chunk.take();
        await nextIteration();
      }
    }
    yield chunk.take();
  } finally {
    await rest.return?.();
  }
}

const encoder = new TextEncoder();

class Chunk {
  #bytes = Buffer.allocUnsafeSlow(chunkBytes);
  #used = 0;

  /** Returns the rest of the text that did not fit. */
  add(text: string): string {
    if (this.#used + text.length * maxBytesPerUnit <= chunkBytes) {
      this.#used += this.#bytes.write(text, this.#used);
      return '';
    }
    const { read, written } = encoder.encodeInto(text, this.#bytes.subarray(this.#used));
    this.#used += written;
    return text.slice(read);
  }

  /** Returns the bytes so far and starts a new block. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#used);
    this.#bytes = Buffer.allocUnsafeSlow(chunkBytes);
    this.#used = 0;
    return taken;
  }
}
