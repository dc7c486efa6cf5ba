/** An unbuffered channel from many senders to one reader: `send` resolves once the reader has processed the item. */
export class RendezvousChannel<T> implements AsyncIterable<T> {
  readonly #senders: { readonly item: T; readonly taken: (wasTaken: boolean) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;
  #wake: (() => void) | undefined;

  /** Resolves with true once the reader asks for the next item; with false when the channel is closed. */
  send(item: T): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return new Promise((taken) => {
      this.#senders.push({ item, taken });
      this.#wake?.();
    });
  }

  /** Makes the reader throw this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /** Ends the reader and resolves all waiting senders with false. */
  close(): void {
    this.#isClosed = true;
    for (const { taken } of this.#senders.splice(0)) taken(false);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    while (!this.#isClosed) {
      if (this.#failure) throw this.#failure.error;
      const next = this.#senders.shift();
      if (next) {
        yield next.item;
        next.taken(true);
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}
