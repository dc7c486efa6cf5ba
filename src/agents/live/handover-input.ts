import type { LiveInput } from '../../core/model.ts';

interface Waiter {
  readonly resolve: (input: LiveInput | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The client's live input, read by one agent after another: after a transfer, the next agent gets the input that the
 * previous one did not read. One reader at a time.
 */
export class HandoverInput implements AsyncIterable<LiveInput> {
  readonly #source: AsyncIterator<LiveInput>;
  #isPulling = false;
  /** An input that arrived after its reader was interrupted. */
  #kept: LiveInput | undefined;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;
  #waiter: Waiter | undefined;

  private constructor(source: AsyncIterable<LiveInput>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Wraps an input; returns the same object when it is wrapped already. */
  static of(input: AsyncIterable<LiveInput>): HandoverInput {
    return input instanceof HandoverInput ? input : new HandoverInput(input);
  }

  /** Whether the client's input has ended and all of it was read. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The next input. `undefined` when the input has ended, or when `interrupt` is called before one arrives. */
  next(): Promise<LiveInput | undefined> {
    const kept = this.#kept;
    if (kept) {
      this.#kept = undefined;
      return Promise.resolve(kept);
    }
    if (this.#failure) return Promise.reject(this.#failure.error);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (!this.#isPulling) this.#pull();
    });
  }

  /** Makes a waiting `next` resolve with `undefined`. The next call of `next` gets the input that arrives then. */
  interrupt(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve(undefined);
  }

  /** Returns an input that was read but not used: the next call of `next` gets it. */
  putBack(input: LiveInput): void {
    this.#kept = input;
  }

  /** Ends the input and closes its source. */
  close(): void {
    this.interrupt();
    this.#hasEnded = true;
    // Not awaited: a source that is waiting for its client closes when the client does.
    this.#source.return?.().then(undefined, () => {});
  }

  /** For custom agents. Leaving the loop keeps the rest for the next reader. */
  [Symbol.asyncIterator](): AsyncIterator<LiveInput, undefined> {
    return {
      next: async () => {
        const value = await this.next();
        return value ? { done: false, value } : { done: true, value: undefined };
      },
      return: () => {
        this.interrupt();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #pull(): void {
    this.#isPulling = true;
    this.#source.next().then(
      (result) => {
        this.#isPulling = false;
        const waiter = this.#waiter;
        this.#waiter = undefined;
        if (result.done) this.#hasEnded = true;
        else if (!waiter) this.#kept = result.value;
        waiter?.resolve(result.done ? undefined : result.value);
      },
      (error: unknown) => {
        this.#isPulling = false;
        const waiter = this.#waiter;
        this.#waiter = undefined;
        if (waiter) waiter.reject(error);
        this.#failure = { error };
      },
    );
  }
}
