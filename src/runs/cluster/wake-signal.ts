/** Wakes one polling loop early. A notification that comes without a waiter is remembered for the next wait. */
export class WakeSignal {
  #isNotified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, or with the next notification. */
  async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    if (this.#isNotified) resolve();
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
    this.#isNotified = false;
  }
}
