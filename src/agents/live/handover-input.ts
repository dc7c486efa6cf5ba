import type { LiveInput } from '../../core/model.ts';

interface Waiter {
  readonly resolve: (input: LiveInput | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What a live client sends, for one reader after another: when an agent hands over, what came in and was not taken yet
 * is for the next one. One reader at a time.
 */
export class HandoverInput implements AsyncIterable<LiveInput> {
  readonly #source: AsyncIterator<LiveInput>;
  #isPulling = false;
  /** What arrived after its reader had stopped waiting. */
  #kept: LiveInput | undefined;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;
  #waiter: Waiter | undefined;

  private constructor(source: AsyncIterable<LiveInput>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The input as it is shared; the same object when it is already. */
  static of(input: AsyncIterable<LiveInput>): HandoverInput {
    return input instanceof HandoverInput ? input : new HandoverInput(input);
  }

  /** Whether the client has said all it had to say, and all of it was read. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The next input. `undefined` when there will be none, or when `interrupt` is called before one comes. */
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

  /** Ends the wait of the reader, if one waits. What comes then is kept for the next `next`. */
  interrupt(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve(undefined);
  }

  /** Lets the next `next` give what this reader has taken and left. */
  putBack(input: LiveInput): void {
    this.#kept = input;
  }

  /** Lets go of the client: nobody will read any more. */
  close(): void {
    this.interrupt();
    this.#hasEnded = true;
    // Not awaited: a source that is waiting for its client closes when the client does.
    this.#source.return?.().then(undefined, () => {});
  }

  /** For agents that read by themselves. Breaking off leaves the rest to the next reader. */
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
