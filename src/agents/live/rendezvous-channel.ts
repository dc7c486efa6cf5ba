/** Hands things from many writers to one reader. A writer waits until its thing was taken, so little ever lies here. */
export class RendezvousChannel<T> implements AsyncIterable<T> {
  readonly #senders: { readonly item: T; readonly taken: (wasTaken: boolean) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;
  #wake: (() => void) | undefined;

  /** Resolves once the thing was taken: with false when nobody will take it any more. */
  send(item: T): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return new Promise((taken) => {
      this.#senders.push({ item, taken });
      this.#wake?.();
    });
  }

  /** Makes the reader fail. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /** Ends the reader, and the wait of all writers. */
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
