/** Wakes somebody who looks at something again and again, such as a store. One that comes too early is not lost. */
export class Nudge {
  #isGiven = false;
  #wake: (() => void) | undefined;

  give(): void {
    this.#isGiven = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, or with the next nudge. */
  async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    if (this.#isGiven) resolve();
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
    this.#isGiven = false;
  }
}
