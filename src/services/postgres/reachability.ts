import type { Pool } from 'pg';
import { sqlStateOf } from './errors.ts';

/** How long something may wait for the database until that is asked whether it is there. */
const patienceMs = 500;
/** How long it may take to answer that. */
export const answerMs = 2_000;
/** An answer that is noticed to be late by more was not looked for in time: that is our fault. */
const lateMs = 200;

interface Waiting {
  readonly sinceMs: number;
  readonly giveUp: () => void;
}

/**
 * Tells a database that is slow from one that is away and does not say so, as when packets get lost: what waits for long
 * is given up once the database does not answer the simplest question either, over a connection of its own.
 */
export class Reachability {
  readonly #questions: Pool;
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** `questions`: connections for nothing else, which end within `answerMs` what has no answer. */
  constructor(questions: Pool) {
    this.#questions = questions;
  }

  /** `giveUp` is called when the database is away, unless `leave` was before. */
  enter(giveUp: () => void): Waiting {
    const waiting = { sinceMs: performance.now(), giveUp };
    this.#waiting.add(waiting);
    this.#timer ??= setTimeout(this.#look, patienceMs).unref();
    return waiting;
  }

  leave(waiting: Waiting): void {
    this.#waiting.delete(waiting);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#questions.end();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const [oldest] = this.#waiting;
    if (!oldest) return;
    const leftMs = oldest.sinceMs + patienceMs - performance.now();
    if (leftMs > 0) this.#timer = setTimeout(this.#look, leftMs).unref();
    else void this.#ask(); // never rejects
  };

  async #ask(): Promise<void> {
    const askedMs = performance.now();
    const isThere = await this.#questions.query('select 1').then(() => true, isAnswer);
    if (!isThere && performance.now() - askedMs < answerMs + lateMs) {
      for (const waiting of this.#waiting) {
        if (waiting.sinceMs > askedMs) break;
        this.#waiting.delete(waiting);
        waiting.giveUp();
      }
    }
    this.#timer ??= setTimeout(this.#look, patienceMs).unref();
  }
}

/** A database that has no room for one more connection is there; one that starts or ends is not. */
const isAnswer = (error: unknown): boolean => /^(?!57P|08)[0-9A-Z]{5}$/.test(sqlStateOf(error));
