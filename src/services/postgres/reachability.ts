import type { Pool } from 'pg';
import { sqlStateOf } from './errors.ts';

/** How long a statement may wait before the database is probed. */
const probeAfterMs = 500;
/** The time limit of a probe. */
export const answerMs = 2_000;
/** If the time limit is noticed later than this, this process was too slow, and the probe does not count. */
const lateMs = 200;

interface Waiting {
  readonly sinceMs: number;
  readonly giveUp: () => void;
}

/**
 * Distinguishes a slow database from an unreachable one, such as after packet loss. When a statement waits for long, a
 * probe runs on a separate connection; if that fails, too, the waiting statements are given up.
 */
export class Reachability {
  readonly #probes: Pool;
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** `probes`: connections only for probes, with a time limit of `answerMs`. */
  constructor(probes: Pool) {
    this.#probes = probes;
  }

  /** Registers a waiting statement. `giveUp` is called when the database is unreachable, until `leave` is called. */
  enter(giveUp: () => void): Waiting {
    const waiting = { sinceMs: performance.now(), giveUp };
    this.#waiting.add(waiting);
    this.#timer ??= setTimeout(this.#look, probeAfterMs).unref();
    return waiting;
  }

  leave(waiting: Waiting): void {
    this.#waiting.delete(waiting);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#probes.end();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const [oldest] = this.#waiting;
    if (!oldest) return;
    const leftMs = oldest.sinceMs + probeAfterMs - performance.now();
    if (leftMs > 0) this.#timer = setTimeout(this.#look, leftMs).unref();
    else void this.#probe(); // never rejects
  };

  async #probe(): Promise<void> {
    const askedMs = performance.now();
    const isThere = await this.#probes.query('select 1').then(() => true, isAnswer);
    if (!isThere && performance.now() - askedMs < answerMs + lateMs) {
      for (const waiting of this.#waiting) {
        if (waiting.sinceMs > askedMs) break;
        this.#waiting.delete(waiting);
        waiting.giveUp();
      }
    }
    this.#timer ??= setTimeout(this.#look, probeAfterMs).unref();
  }
}

/** A database without a free connection is reachable; one that starts or shuts down is not. */
const isAnswer = (error: unknown): boolean => /^(?!57P|08)[0-9A-Z]{5}$/.test(sqlStateOf(error));
