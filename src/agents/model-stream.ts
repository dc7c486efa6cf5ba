import type { ModelResponse } from '../core/model.ts';

/** Pulls a model's responses one by one, and stops waiting for them once the signal aborts. */
export class ModelStream {
  readonly #iterator: AsyncIterator<ModelResponse, unknown>;
  readonly #signal: AbortSignal;
  #interrupt: ((reason: unknown) => void) | undefined;
  #done = false;

  constructor(source: AsyncIterable<ModelResponse>, signal: AbortSignal) {
    signal.throwIfAborted();
    this.#iterator = source[Symbol.asyncIterator]();
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The next response; `undefined` at the end. Rejects with the signal's reason, or with what the model threw. */
  next(): Promise<ModelResponse | undefined> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      this.#iterator.next().then((result) => {
        this.#done = result.done === true;
        resolve(result.done ? undefined : result.value);
      }, reject);
      if (this.#signal.aborted) this.#onAbort();
    });
  }

  /** Lets go of the signal, and of the model if it has not finished: without waiting, for it may never. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (!this.#done) this.#iterator.return?.()?.then(undefined, () => {});
  }

  readonly #onAbort = (): void => this.#interrupt?.(this.#signal.reason);
}
