/** Lets `count` callers work at the same time; the others wait, first come, first served. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Whether the next caller would have to wait. */
  get isExhausted(): boolean {
    return this.#free === 0;
  }

  /** Takes a permit; return it with `release`. Rejects with the signal's reason if that comes first. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(admit);
        reject(signal.reason as Error);
      };
      this.#waiting.add(admit);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
