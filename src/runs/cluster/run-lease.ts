import { randomUUID } from 'node:crypto';
import { LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { outcomeOfFailure, deriveRun } from '../../core/run-status.ts';
import type { RunEnd, RunRef } from '../../core/run-store.ts';
import type { AppendGuard, SessionService } from '../../core/services.ts';
import type { RunEventLog } from '../../runner/queue/event-log.ts';
import { PendingWrites } from '../../runner/queue/fenced-stores.ts';
import type { ExistingLease, QueuedRun, RunSlot } from '../../runner/queue/run-queue.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import { FencedSessions } from './fenced-sessions.ts';
import { WakeSignal } from './wake-signal.ts';

/** The line that a turn stands in. */
export interface LeaseHolder {
  /** What a turn does at its end. Without an end, there was no run. */
  readonly finish: (turn: RunLease, end: RunEnd | undefined) => Promise<void>;
  /** Whether the others know that this replica lives. */
  readonly isConnected: () => boolean;
}

/** The place of a run in the line of a session that a store keeps. */
export class RunLease implements RunSlot, QueuedRun {
  readonly id: string;
  readonly key: SessionKey;
  createdAtMs = Date.now();
  startedAtMs: number | undefined;
  rollbackOf: string | undefined;
  session: Session | undefined;
  log: RunEventLog | undefined;
  /** It is no run: something else wants to be alone with the session. */
  readonly isExclusive: boolean;
  /** Whether its turn did not come at once, or it was begun by another replica. */
  hasWaited = false;
  /** It goes on without whoever asked for it. */
  isDetached = false;
  /** Known once the run is in the store. */
  ref: RunRef | undefined;
  fencingToken: number | undefined;
  readonly #running: LinkedAbort;
  readonly #holder: LeaseHolder;
  readonly #ended = Promise.withResolvers<void>();
  #sessions: SessionService | undefined;
  #appendedEvents = 0;
  #hasStored = false;
  #isRelinquished = false;
  #isReleased = false;
  #evicted: AppError | undefined;
  readonly #writes = new PendingWrites();
  readonly #wakeSignal = new WakeSignal();

  constructor(key: SessionKey, id: string | undefined, signal: AbortSignal, line: LeaseHolder) {
    this.key = key;
    this.isExclusive = id === undefined;
    this.id = id ?? `hold-${randomUUID()}`;
    this.#running = new LinkedAbort(signal);
    this.#holder = line;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  get sessions(): SessionService | undefined {
    return this.#sessions;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether this replica has lost the run, or left it to others: it stores nothing more then. */
  get isRelinquished(): boolean {
    return this.#isRelinquished;
  }

  /** Whether the run is one of a session that is deleted. */
  get isEvicted(): boolean {
    return this.#evicted !== undefined;
  }

  begin({ ref, appendedEvents, startedAtMs }: ExistingLease, fencingToken: number, sessions: SessionService): void {
    this.ref = ref;
    this.fencingToken = fencingToken;
    this.#appendedEvents = appendedEvents;
    this.startedAtMs = startedAtMs ?? Date.now();
    this.#sessions = new FencedSessions(sessions, {
      key: this.key,
      nextAppend: () => this.#nextAppend(ref, fencingToken),
      relinquish: (reason) => this.relinquish(reason),
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
  checkMayWrite(): void {
    if (this.#evicted) throw this.#evicted;
    if (this.#isRelinquished || !this.#holder.isConnected()) throw leaseLost(this.id);
  }

  trackWrite(write: Promise<unknown>): void {
    this.#writes.track(write);
  }

  /** Ends the run here, and only here: in the store it stays as it is. */
  relinquish(reason: AppError): void {
    this.#isRelinquished = true;
    this.abort(reason);
  }

  /** Resolves after `ms`, or when the turn may have come, or when the run shall end. */
  waitForWake(ms: number): Promise<void> {
    this.signal.addEventListener('abort', this.wake, { once: true });
    if (this.signal.aborted) this.wake();
    return this.#wakeSignal.wait(ms);
  }

  readonly wake = (): void => this.#wakeSignal.notify();

  async release(failure?: unknown): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#running[Symbol.dispose]();
    this.signal.removeEventListener('abort', this.wake);
    this.log?.end(failure);
    // It is in the store, which would not take its end now either.
    if (!this.#hasStored && failure instanceof AppError && failure.code === 'unavailable') this.#isRelinquished = true;
    try {
      if (this.#evicted) await this.#writes.settled();
      await this.#holder.finish(this, this.#end(failure));
    } finally {
      this.#ended.resolve();
    }
  }

  #end(failure: unknown): RunEnd | undefined {
    if (this.isExclusive || (failure !== undefined && this.#isRefused)) return undefined;
    if (failure !== undefined) return outcomeOfFailure(failure);
    const { status, error }: RunEnd = (this.session && deriveRun(this.session, this.id)) ?? { status: 'done' };
    return { status, error };
  }

  /** Whoever asked for the run was told that there is none: nothing was stored, and nobody waited for it. */
  get #isRefused(): boolean {
    return !this.hasWaited && !this.#hasStored && !this.signal.aborted;
  }

  #nextAppend({ session, id: runId }: RunRef, fencingToken: number): AppendGuard {
    if (this.#evicted) throw this.#evicted;
    if (this.#isRelinquished) throw leaseLost(this.id);
    const eventIndex = this.#appendedEvents;
    this.#appendedEvents += 1;
    this.#hasStored = true;
    return { session, runId, fencingToken, eventIndex };
  }
}

export const leaseLost = (id: string): AppError =>
  new AppError('session_changed', `Run "${id}" goes on at another server`);
