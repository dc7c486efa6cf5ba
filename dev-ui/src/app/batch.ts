/** A hidden page renders no frames: then a timer decides. */
const longestWaitMs = 100;
/** Items delivered at once, so that a burst never blocks typing or scrolling. */
const most = 200;

/** Collects items and delivers them once per animation frame, after it is painted, so that typed text shows first. */
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

  /** Delivers all items now. */
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
