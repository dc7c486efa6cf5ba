import { startTimer } from './timers.ts';

/** A controller that aborts with its parent. Dispose it to remove the listener on the parent. */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;

  constructor(parent: AbortSignal) {
    this.#parent = parent;
    if (parent.aborted) this.handleEvent();
    else parent.addEventListener('abort', this, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Called when the parent aborts. */
  handleEvent(): void {
    this.#controller.abort(this.#parent.reason);
  }

  [Symbol.dispose](): void {
    this.#parent.removeEventListener('abort', this);
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

/**
 * Settles like `work`, or rejects with the signal's reason, or after `ms` milliseconds with the error that `late` makes;
 * whichever comes first. A later result or rejection of `work` is ignored. Leaves no timer and no listener behind.
 */
export function withTimeout<T>(work: PromiseLike<T>, ms: number, signal: AbortSignal, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = startTimer(() => finish(() => reject(late())), ms);
    const onAbort = (): void => finish(() => reject(signal.reason as Error));
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
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
    const timer = startTimer(() => {
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
export function stopOnAbort<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncIterableIterator<T, void, void> {
  return new StoppableIterator(source, signal);
}

/** Written by hand because a generator would cost every value a second promise. */
class StoppableIterator<T> implements AsyncIterableIterator<T, void, void> {
  readonly #source: AsyncIterable<T>;
  readonly #signal: AbortSignal;
  #iterator: AsyncIterator<T> | undefined;
  #isOver = false;
  /** The signal aborted between two pulls: the next pull rejects. */
  #rejectsNextPull = false;
  #resolve: ((result: IteratorResult<T, void>) => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    return new Promise(this.#pull);
  }

  return(): Promise<IteratorResult<T, void>> {
    this.#leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  readonly #pull = (resolve: (result: IteratorResult<T, void>) => void, reject: (reason: unknown) => void): void => {
    if (this.#rejectsNextPull || (this.#signal.aborted && !this.#isOver)) {
      this.#rejectsNextPull = false;
      this.#leave();
      reject(this.#signal.reason);
      return;
    }
    if (this.#isOver) {
      resolve({ done: true, value: undefined });
      return;
    }
    this.#resolve = resolve;
    this.#reject = reject;
    this.#iterator ??= this.#start();
    this.#iterator.next().then(this.#onResult, this.#onError);
  };

  #start(): AsyncIterator<T> {
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    return this.#source[Symbol.asyncIterator]();
  }

  readonly #onResult = (result: IteratorResult<T, unknown>): void => {
    if (result.done) this.#end();
    this.#resolve?.(result as IteratorResult<T, void>);
    this.#reject = undefined;
  };

  readonly #onError = (error: unknown): void => {
    this.#end();
    this.#reject?.(error);
  };

  readonly #onAbort = (): void => {
    this.#leave();
    if (this.#reject) this.#reject(this.#signal.reason);
    else this.#rejectsNextPull = true;
  };

  /** Closes the source without waiting for it: one that ignores the signal may never close. */
  #leave(): void {
    if (this.#isOver) return;
    this.#end();
    this.#iterator?.return?.()?.then(undefined, () => {});
  }

  #end(): void {
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Resolves with whether `work` settles, in success or failure, within `limitMs`. Does not stop work that takes longer. */
export async function completesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const late = new AbortController();
  const timer = startTimer(() => late.abort(), limitMs);
  try {
    await abortable(work, late.signal);
    return true;
  } catch {
    return !late.signal.aborted;
  } finally {
    clearTimeout(timer);
  }
}
