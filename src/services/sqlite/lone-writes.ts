import type { WriteOutcome, Writer } from './writer.ts';
import type { Write, WriteName } from './writes.ts';

/** Milliseconds that a write may keep everyone waiting. After one that took longer, none is done here 50 times as long. */
const quickMs = 4;
const restFactor = 50;
/** The same after writes that came together: they will again. */
const crowdMs = 50;
/** Of so many writes one goes to the thread, which brings the log into the file when it has grown. */
const inARow = 200;

/** What takes no longer than its sync, whatever the database holds. */
const short: ReadonlySet<WriteName> = new Set(['appendEvent', 'enqueueRun', 'tryStartRun', 'finishRun']);

/**
 * Does writes on the thread that asks for them. The way to another thread and back takes as long as the sync of a quick
 * disk, so a write that is alone is done sooner here, and holds nobody up for longer than a larger request does. Without,
 * the median append of a client that is alone takes 20 to 40 % longer, and the quickest tenth 6 to 14 %.
 */
export class LoneWrites {
  readonly #path: string;
  /** There is none before the database is up to date, nor after a failure of its disk. */
  #writer: Writer | undefined;
  #restUntilMs = 0;
  #count = 0;
  #isEnded = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** To be told when the database is up to date and can be written. */
  async open(): Promise<void> {
    if (this.#writer) return;
    const { Writer: Opened } = await import('./writer.ts');
    if (this.#writer || this.#isEnded) return;
    const writer = new Opened(this.#path);
    if (writer.openForMoments()) this.#writer = writer;
  }

  /** To be told of writes that came together. */
  noteCrowd(): void {
    this.#restUntilMs = Math.max(this.#restUntilMs, performance.now() + crowdMs);
  }

  /** Nothing is done when it gives `undefined`. */
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

  /** Closes the file until it is opened again. */
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
