import { randomUUID } from 'node:crypto';
import { LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { deriveRun, outcomeOfFailure } from '../../core/run-status.ts';
import type { RunEnd, RunRef } from '../../core/run-store.ts';
import type { MaybePromise } from '../../core/runtime.ts';
import type { AppendFencing, SessionService } from '../../core/services.ts';
import { PendingWrites } from '../../runner/queue/fenced-stores.ts';
import { RunOutput } from '../../runner/queue/run-output.ts';
import type { QueuedRun, RunSlot } from '../../runner/queue/run-queue.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { FencedSessions, type SessionLease } from './fenced-sessions.ts';
import { WakeSignal } from './wake-signal.ts';

/** The queue that a lease belongs to. */
export interface LeaseQueue {
  /** Stores the end of a lease. Without an end, there was no run. */
  finish(lease: RunLease, end: RunEnd | undefined): Promise<void>;
  /** Whether the other replicas count this one as alive. */
  readonly isAlive: boolean;
}

/** A run that owns the session, as the database has it: its token, the number of its events, and its start. */
export interface Grant {
  readonly fencingToken: number;
  readonly appendedEvents: number;
  readonly startedAtMs?: number | undefined;
}

/** A run in a queue that a database keeps, and its slot. Decides what the run may still store, and how its end is stored. */
export class RunLease implements RunSlot, QueuedRun, SessionLease {
  readonly id: string;
  readonly key: SessionKey;
  readonly output: RunOutput;
  createdAtMs = Date.now();
  startedAtMs: number | undefined;
  rollbackOf: string | undefined;
  /** An operation that needs the session for itself and is not a run. */
  readonly isExclusive: boolean;
  /** It waited for its slot, or another replica started it: its client knows that there is a run. */
  wasAnnounced = false;
  /** Whether it continues when the client that started it disconnects. */
  isDetached = false;
  /** Known once the database has the run. */
  ref: RunRef | undefined;
  fencingToken: number | undefined;
  readonly #running: LinkedAbort;
  readonly #queue: LeaseQueue;
  readonly #ended = Promise.withResolvers<void>();
  readonly #writes = new PendingWrites();
  readonly #wakeSignal = new WakeSignal();
  #waiting: Promise<RunLease> | undefined;
  #sessions: SessionService | undefined;
  #appendedEvents = 0;
  #hasStored = false;
  #isRelinquished = false;
  #isReleased = false;
  #evicted: AppError | undefined;

  constructor(key: SessionKey, id: string | undefined, signal: AbortSignal, queue: LeaseQueue) {
    this.key = key;
    this.isExclusive = id === undefined;
    this.id = id ?? `hold-${randomUUID()}`;
    this.output = new RunOutput(this.id);
    this.#running = new LinkedAbort(signal);
    this.#queue = queue;
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

  get isWaiting(): boolean {
    return this.#waiting !== undefined && this.startedAtMs === undefined;
  }

  get isPersisted(): boolean {
    return this.ref !== undefined;
  }

  /** This replica has lost the run or left it to others: it stores nothing more of it. */
  get isRelinquished(): boolean {
    return this.#isRelinquished;
  }

  /** The session of the run is being deleted. */
  get isEvicted(): boolean {
    return this.#evicted !== undefined;
  }

  slot(): MaybePromise<RunLease> {
    return this.#waiting ?? this;
  }

  /** `granted` resolves when the run has its session. */
  wait(granted: Promise<void>): void {
    this.#waiting = granted.then(() => this);
    this.#waiting.catch(() => {}); // the run may end before its slot is awaited
  }

  start({ fencingToken, appendedEvents, startedAtMs }: Grant, sessions: SessionService): void {
    this.fencingToken = fencingToken;
    this.#appendedEvents = appendedEvents;
    this.startedAtMs = startedAtMs ?? Date.now();
    this.#sessions = new FencedSessions(sessions, this);
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

  /** Checks the time itself: a replica that was suspended may not know yet that others have taken over. */
  checkMayWrite(): void {
    if (this.#evicted) throw this.#evicted;
    if (this.#isRelinquished || !this.#queue.isAlive) throw leaseLost(this.id);
  }

  trackWrite(write: Promise<unknown>): void {
    this.#writes.track(write);
  }

  nextAppend(): AppendFencing {
    if (this.#evicted) throw this.#evicted;
    if (this.#isRelinquished || !this.ref || this.fencingToken === undefined) throw leaseLost(this.id);
    const { session, id: runId } = this.ref;
    const eventIndex = this.#appendedEvents;
    this.#appendedEvents += 1;
    this.#hasStored = true;
    return { session, runId, fencingToken: this.fencingToken, eventIndex };
  }

  /** Ends the run in this process only: the database keeps it as it is. */
  relinquish(reason: AppError): void {
    this.#isRelinquished = true;
    this.abort(reason);
  }

  /** Resolves after `ms`, or when the run may be the next, or when it is to end. */
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
    this.output.end(failure);
    // The database has the run, and would not store its end now either.
    if (!this.#hasStored && failure instanceof AppError && failure.code === 'unavailable') this.#isRelinquished = true;
    try {
      if (this.#evicted) await this.#writes.settled();
      await this.#queue.finish(this, this.#end(failure));
    } finally {
      this.#ended.resolve();
    }
  }

  #end(failure: unknown): RunEnd | undefined {
    if (this.isExclusive || (failure !== undefined && this.#isRefused)) return undefined;
    if (failure !== undefined) return outcomeOfFailure(failure);
    const { session } = this.output;
    const { status, error }: RunEnd = (session && deriveRun(session, this.id)) ?? { status: 'done' };
    return { status, error };
  }

  /** The client got the error that there is no run: nothing was stored, and the run was not queued. */
  get #isRefused(): boolean {
    return !this.wasAnnounced && !this.#hasStored && !this.signal.aborted;
  }
}

export const leaseLost = (id: string): AppError =>
  new AppError('session_changed', `Run "${id}" goes on at another server`);
