/** A number of places; who finds none free waits in line. */
export class Slots {
  #free: number;
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Whether somebody holds a place or waits for one, when there is only one. */
  get isTaken(): boolean {
    return this.#free === 0;
  }

  /** Takes a place; give it back with `leave`. Rejects with the signal's reason if that comes first. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', leaveLine);
        resolve();
      };
      const leaveLine = (): void => {
        this.#line.delete(turn);
        reject(signal.reason as Error);
      };
      this.#line.add(turn);
      signal.addEventListener('abort', leaveLine, { once: true });
    });
  }

  leave(): void {
    const [next] = this.#line;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#line.delete(next);
    next();
  }
}
