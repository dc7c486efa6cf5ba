import type { WriteOutcome, Writer } from './writer.ts';
import type { Write, WriteName } from './writes.ts';

/** Milliseconds that a write may block the event loop. After a slower one, none runs here for 50 times its duration. */
const quickMs = 4;
const restFactor = 50;
/** The pause after concurrent writes, in milliseconds: more of them are likely. */
const concurrencyPauseMs = 50;
/** One of so many writes goes to the thread, which does the checkpoints of the log. */
const inARow = 200;

/** Writes that take no longer than their disk sync, independent of the size of the database. */
const short: ReadonlySet<WriteName> = new Set(['appendEvent', 'enqueueRun', 'tryStartRun', 'finishRun']);

/**
 * Runs writes in the calling thread. A round trip to another thread takes as long as the sync of a fast disk, so a single
 * write ends sooner here, and blocks the event loop no longer than a larger request does. Without this, the median append
 * of a single client takes 20 to 40 % longer, and the fastest tenth 6 to 14 %.
 */
export class InlineWrites {
  readonly #path: string;
  /** Absent before the database is migrated, and after a failure of its disk. */
  #writer: Writer | undefined;
  #restUntilMs = 0;
  #count = 0;
  #isEnded = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Call it when the database is migrated and writable. */
  async open(): Promise<void> {
    if (this.#writer) return;
    const { Writer: Opened } = await import('./writer.ts');
    if (this.#writer || this.#isEnded) return;
    const writer = new Opened(this.#path);
    if (writer.openForInlineWrites()) this.#writer = writer;
  }

  /** Call it for concurrent writes. */
  noteConcurrentWrites(): void {
    this.#restUntilMs = Math.max(this.#restUntilMs, performance.now() + concurrencyPauseMs);
  }

  /** Returns `undefined` if it did not run the write. */
  perform({ name, input }: Write): WriteOutcome | undefined {
    const startMs = performance.now();
    if (!this.#writer || startMs < this.#restUntilMs || !short.has(name)) return undefined;
    this.#count += 1;
    if (this.#count % inARow === 0) return undefined;
    const outcome = this.#writer.performAtOnce({ name, input });
    const tookMs = performance.now() - startMs;
    if (!outcome || tookMs > quickMs) this.#restUntilMs = startMs + Math.max(tookMs, quickMs) * restFactor;
    if (outcome && isUnavailable(outcome)) this.close();
    return outcome;
  }

  /** Closes the file until the next `open`. */
  close(): void {
    this.#writer?.close();
    this.#writer = undefined;
  }

  /** Closes the file for good. */
  end(): void {
    this.#isEnded = true;
    this.close();
  }
}

/** Whether the database could not be used. */
export const isUnavailable = (outcome: WriteOutcome): boolean =>
  'failure' in outcome && outcome.failure.code === 'unavailable';
