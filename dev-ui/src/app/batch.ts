/** A hidden page draws no frames: then time decides. */
const longestWaitMs = 100;
/** Items handed over in one go, so that a burst never holds up typing or scrolling. */
const most = 200;

/** Gathers items and hands them over once a frame, after it is painted: what was typed in the meantime shows first. */
export class Batch<T> {
  #items: T[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  readonly #take: (items: T[]) => void;

  constructor(take: (items: T[]) => void) {
    this.#take = take;
  }

  add(items: readonly T[]): void {
    for (const item of items) this.#items.push(item);
    if (this.#timer === undefined && this.#items.length > 0) this.#schedule();
  }

  /** Hands over everything now. */
  flush(): void {
    this.#cancel();
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.#take(items);
  }

  #schedule(): void {
    const next = (): void => {
      this.#cancel();
      const items = this.#items.splice(0, most);
      this.#take(items);
      if (this.#items.length > 0) this.#schedule();
    };
    this.#timer = setTimeout(next, longestWaitMs);
    this.#frame = requestAnimationFrame(() => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(next);
    });
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#timer = undefined;
  }
}
