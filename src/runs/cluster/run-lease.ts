import { LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { outcomeOfFailure, runIn } from '../../core/run-status.ts';
import type { RunEnd, RunRef } from '../../core/run-store.ts';
import type { AppendGuard, SessionService } from '../../core/services.ts';
import type { RunFeed } from '../../runner/queue/event-log.ts';
import { OpenWrites } from '../../runner/queue/fenced-stores.ts';
import type { Claim, LocalRun, Turn } from '../../runner/queue/run-queue.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import { GuardedSessions } from './fenced-sessions.ts';
import { Nudge } from './wake-signal.ts';

/** The line that a turn stands in. */
export interface TurnLine {
  /** What a turn does at its end. Without an end, there was no run. */
  readonly finish: (turn: DurableTurn, end: RunEnd | undefined) => Promise<void>;
  /** Whether the others know that this replica lives. */
  readonly isKnownToLive: () => boolean;
}

/** The place of a run in the line of a session that a store keeps. */
export class DurableTurn implements Turn, LocalRun {
  readonly id: string;
  readonly key: SessionKey;
  createdAtMs = Date.now();
  startedAtMs: number | undefined;
  takesBack: string | undefined;
  session: Session | undefined;
  feed: RunFeed | undefined;
  /** It is no run: something else wants to be alone with the session. */
  readonly isHold: boolean;
  /** Whether its turn did not come at once, or it was begun by another replica. */
  hasWaited = false;
  /** It goes on without whoever asked for it. */
  isDetached = false;
  /** Known once the run is in the store. */
  ref: RunRef | undefined;
  fence: number | undefined;
  readonly #running: LinkedAbort;
  readonly #line: TurnLine;
  readonly #over = Promise.withResolvers<void>();
  #sessions: SessionService | undefined;
  #steps = 0;
  #hasStored = false;
  #isGivenUp = false;
  #isReleased = false;
  #evicted: AppError | undefined;
  readonly #writes = new OpenWrites();
  readonly #nudge = new Nudge();

  constructor(key: SessionKey, id: string | undefined, signal: AbortSignal, line: TurnLine) {
    this.key = key;
    this.isHold = id === undefined;
    this.id = id ?? newId('hold-');
    this.#running = new LinkedAbort(signal);
    this.#line = line;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  get sessions(): SessionService | undefined {
    return this.#sessions;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Whether this replica has lost the run, or left it to others: it stores nothing more then. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Whether the run is one of a session that is deleted. */
  get isEvicted(): boolean {
    return this.#evicted !== undefined;
  }

  begin({ ref, steps, startedAtMs }: Claim, fence: number, sessions: SessionService): void {
    this.ref = ref;
    this.fence = fence;
    this.#steps = steps;
    this.startedAtMs = startedAtMs ?? Date.now();
    this.#sessions = new GuardedSessions(sessions, {
      key: this.key,
      next: () => this.#guard(ref, fence),
      lost: (reason) => this.giveUp(reason),
    });
  }

  abort(reason: AppError): void {
    this.#running.abort(reason);
    this.wake();
  }

  /** Ends the run of a session that is to be deleted: nothing of it is stored any more but that it ended. */
  evict(reason: AppError): void {
    this.#evicted = reason;
    this.abort(reason);
  }

  /** A replica that has slept does not wait until it is told that others have taken over. */
  check(): void {
    if (this.#evicted) throw this.#evicted;
    if (this.#isGivenUp || !this.#line.isKnownToLive()) throw lostRun(this.id);
  }

  noteWrite(write: Promise<unknown>): void {
    this.#writes.note(write);
  }

  /** Ends the run here, and only here: in the store it stays as it is. */
  giveUp(reason: AppError): void {
    this.#isGivenUp = true;
    this.abort(reason);
  }

  /** Resolves after `ms`, or when the turn may have come, or when the run shall end. */
  nudged(ms: number): Promise<void> {
    this.signal.addEventListener('abort', this.wake, { once: true });
    if (this.signal.aborted) this.wake();
    return this.#nudge.wait(ms);
  }

  readonly wake = (): void => this.#nudge.give();

  async release(failure?: unknown): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#running[Symbol.dispose]();
    this.signal.removeEventListener('abort', this.wake);
    this.feed?.end(failure);
    // It is in the store, which would not take its end now either.
    if (!this.#hasStored && failure instanceof AppError && failure.code === 'unavailable') this.#isGivenUp = true;
    try {
      if (this.#evicted) await this.#writes.over();
      await this.#line.finish(this, this.#end(failure));
    } finally {
      this.#over.resolve();
    }
  }

  #end(failure: unknown): RunEnd | undefined {
    if (this.isHold || (failure !== undefined && this.#isRefused)) return undefined;
    if (failure !== undefined) return outcomeOfFailure(failure);
    const { status, error }: RunEnd = (this.session && runIn(this.session, this.id)) ?? { status: 'done' };
    return { status, error };
  }

  /** Whoever asked for the run was told that there is none: nothing was stored, and nobody waited for it. */
  get #isRefused(): boolean {
    return !this.hasWaited && !this.#hasStored && !this.signal.aborted;
  }

  #guard({ session, id: runId }: RunRef, fence: number): AppendGuard {
    if (this.#evicted) throw this.#evicted;
    if (this.#isGivenUp) throw lostRun(this.id);
    const step = this.#steps;
    this.#steps += 1;
    this.#hasStored = true;
    return { session, runId, fence, step };
  }
}

export const lostRun = (id: string): AppError =>
  new AppError('session_changed', `Run "${id}" goes on at another server`);
