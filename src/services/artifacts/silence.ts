import type { Readable } from 'node:stream';

/** Milliseconds for which the other side of a transfer may be silent while it is waited for. */
export const silenceMs = 30_000;

/** Reads a stream, which fails when nothing comes of it for so long. */
export async function* unlessSilent(body: Readable, limitMs: number): AsyncGenerator<Uint8Array, void, void> {
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

/** Lets `send` read the bytes, and aborts its signal when it neither asks for more nor comes to its end for so long. */
export async function sendUnlessSilent(
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

const silent = (limitMs: number): Error => new Error(`Nothing came or went for ${limitMs / 1000} s`);
