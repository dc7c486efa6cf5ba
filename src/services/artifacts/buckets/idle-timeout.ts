import type { Readable } from 'node:stream';

/** Milliseconds without progress after which a transfer fails. */
export const idleTimeoutMs = 30_000;

/** Reads a stream. Throws when no data comes for `limitMs`. */
export async function* readWithIdleTimeout(body: Readable, limitMs: number): AsyncGenerator<Uint8Array, void, void> {
  const wait = (): NodeJS.Timeout => setTimeout(() => body.destroy(silent(limitMs)), limitMs);
  let timer = wait();
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield chunk;
      timer = wait();
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `send` with the bytes. Aborts its signal when it neither reads more nor ends for `limitMs`. */
export async function sendWithIdleTimeout(
  bytes: AsyncIterable<Uint8Array>,
  limitMs: number,
  send: (bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer = setTimeout(() => abort.abort(silent(limitMs)), limitMs);
  };
  async function* timed(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of bytes) {
      wait();
      yield chunk;
      clearTimeout(timer);
    }
    wait();
  }
  try {
    await send(timed(), abort.signal);
  } finally {
    clearTimeout(timer);
  }
}

const silent = (limitMs: number): Error => new Error(`No data was transferred for ${limitMs / 1000} s`);
