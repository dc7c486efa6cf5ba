/** The most all event logs of a process hold together, roughly in bytes. */
const defaultMaxBytes = 32 * 1024 * 1024;

interface MeasuredLog {
  clear(): void;
}

/** Bounds what all event logs hold together: clears the log that has held something for the longest time. */
export class EventLogMemory {
  readonly #maxBytes: number;
  readonly #logs = new Set<MeasuredLog>();
  #size = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** `size`: what the log holds after it has changed by `change` bytes. */
  resized(log: MeasuredLog, size: number, change: number): void {
    this.#size += change;
    if (size > 0) this.#logs.add(log);
    else this.#logs.delete(log);
    while (this.#size > this.#maxBytes) {
      const [oldest] = this.#logs;
      if (!oldest) return;
      oldest.clear();
    }
  }
}
