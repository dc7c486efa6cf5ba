/** A controller that follows its parent. Dispose it to let go of the parent. */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #follow = (): void => this.#controller.abort(this.#parent.reason);

  constructor(parent: AbortSignal) {
    this.#parent = parent;
    if (parent.aborted) this.#follow();
    else parent.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#parent.removeEventListener('abort', this.#follow);
  }
}

/** Settles like `work`, or rejects with the signal's reason if that comes first. A late failure of `work` is swallowed. */
export function abortable<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

/** Waits `ms` milliseconds, or rejects with the signal's reason. Leaves no timer behind. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Yields like `source`, but stops waiting for it once the signal aborts. One listener serves the whole stream: adding
 * one for each value costs more than the value itself.
 */
export async function* stopOnAbort<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let interrupt: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => interrupt?.(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let done = false;
  try {
    for (;;) {
      const result = await new Promise<IteratorResult<T, unknown>>((resolve, reject) => {
        interrupt = reject;
        iterator.next().then(resolve, reject);
        if (signal.aborted) reject(signal.reason as Error);
      });
      if (result.done) {
        done = true;
        return;
      }
      yield result.value;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // A source that ignores the signal may never close, so we ask it to without waiting.
    if (!done) iterator.return?.()?.then(undefined, () => {});
  }
}
