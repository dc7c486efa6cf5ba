/** Approximate limit in bytes for all event logs of a process. */
const defaultMaxBytes = 32 * 1024 * 1024;

interface MeasuredLog {
  clear(): void;
}

/** Bounds the memory of all event logs: clears the log that has held data for the longest time. */
export class EventLogMemory {
  readonly #maxBytes: number;
  readonly #logs = new Set<MeasuredLog>();
  #size = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** `size`: the bytes of the log after a change by `change` bytes. */
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
