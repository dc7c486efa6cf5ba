import { completesWithin, LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { type Rank, ranks } from '../../core/run-store.ts';
import type { MaybePromise } from '../../core/runtime.ts';
import type { OnBusy } from '../../schemas/run.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { PendingWrites } from './fenced-stores.ts';
import { RunOutput } from './run-output.ts';
import {
  admissionRule,
  type ExclusiveRequest,
  preempted,
  preempts,
  type QueuedRun,
  type QueueRequest,
  type RunQueue,
  type RunSlot,
  sessionNotFound,
} from './run-queue.ts';

interface SessionRuns {
  active: LocalSlot;
  /** In the order in which they start. */
  readonly waiting: LocalSlot[];
}

/**
 * Carries out the rules of run-queue.ts within one process: a run that comes while its session has an active one waits, is
 * rejected, or preempts: then `#enter` aborts the active run. Sessions never wait for each other.
 */
export class LocalRunQueue implements RunQueue {
  readonly #sessions = new Map<string, SessionRuns>();
  readonly #maxWaiting: number;

  constructor(maxWaiting = 16) {
    this.#maxWaiting = maxWaiting;
  }

  async acquire({ session, runId, onBusy }: QueueRequest, signal: AbortSignal): Promise<LocalSlot> {
    return this.#enter(session, runId, onBusy, signal);
  }

  async acquireExclusive({ session, onBusy }: ExclusiveRequest, signal: AbortSignal): Promise<LocalSlot> {
    return this.#enter(session, exclusiveId, onBusy, signal).slot();
  }

  #enter(session: SessionKey, id: string, policy: OnBusy, signal: AbortSignal): LocalSlot {
    signal.throwIfAborted();
    const key = nameOf(session);
    const runs = this.#sessions.get(key);
    if (!runs) {
      const slot = new LocalSlot(id, signal, key, this);
      this.#sessions.set(key, { active: slot, waiting: [] });
      slot.start();
      return slot;
    }
    const { maxOpen, rank } = admissionRule(policy, id === exclusiveId, this.#maxWaiting);
    if (runs.waiting.length >= maxOpen) throw refusal(session, maxOpen);
    const slot = new LocalSlot(id, signal, key, this);
    slot.rank = rank;
    if (preempts(policy)) {
      if (policy === 'rollback') slot.rollbackOf = runs.active.id;
      runs.active.abort(preempted());
    }
    slot.wait(runs.waiting);
    return slot;
  }

  async acquireForDeletion(session: SessionKey, graceMs: number): Promise<LocalSlot> {
    const key = nameOf(session);
    const old = this.#sessions.get(key);
    const slot = new LocalSlot(exclusiveId, new AbortController().signal, key, this);
    slot.rank = ranks.exclusive;
    this.#sessions.set(key, { active: slot, waiting: [] });
    slot.start();
    if (!old) return slot;
    const reason = sessionNotFound(session);
    const evicted = [old.active, ...old.waiting];
    const ended = Promise.all(evicted.map((one) => one.ended));
    for (const one of evicted) one.evict(reason);
    await completesWithin(ended, graceMs);
    for (const { output } of evicted) output.end(reason);
    return slot;
  }

  runsOf(session: SessionKey): readonly LocalSlot[] {
    const runs = this.#sessions.get(nameOf(session));
    return runs ? [runs.active, ...runs.waiting] : [];
  }

  /** Starts the run after `slot`, if that is still the active one. */
  startNext(key: string, slot: LocalSlot): void {
    const runs = this.#sessions.get(key);
    if (runs?.active !== slot) return;
    const next = runs.waiting.shift();
    if (!next) {
      this.#sessions.delete(key);
      return;
    }
    runs.active = next;
    if (next.rollbackOf !== undefined && slot.id !== exclusiveId) next.rollbackOf = slot.id;
    next.start();
    const isSuperseded = runs.waiting[0]?.rank === ranks.preempting && next.rank !== ranks.exclusive;
    if (isSuperseded) next.abort(preempted());
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey): string => `${appName}\n${userId}\n${sessionId}`;

/** The id of operations that are not runs. */
const exclusiveId = '';

/** A run of the queue, and its slot. A class, because closures made for every run outlive it in the garbage collector. */
export class LocalSlot implements RunSlot, QueuedRun {
  readonly id: string;
  readonly createdAtMs = Date.now();
  readonly isPersisted = false;
  readonly output: RunOutput;
  startedAtMs: number | undefined;
  rollbackOf: string | undefined;
  rank: Rank = ranks.plain;
  readonly #running: LinkedAbort;
  readonly #key: string;
  #queue: LocalRunQueue | undefined;
  #waiting: Promise<LocalSlot> | undefined;
  #onStart: (() => void) | undefined;
  #ended: PromiseWithResolvers<void> | undefined;
  #writes: PendingWrites | undefined;
  #evicted: AppError | undefined;

  constructor(id: string, signal: AbortSignal, key: string, queue: LocalRunQueue) {
    this.id = id;
    this.output = new RunOutput(id);
    this.#running = new LinkedAbort(signal);
    this.#key = key;
    this.#queue = queue;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  get isWaiting(): boolean {
    return this.startedAtMs === undefined;
  }

  get ended(): Promise<void> {
    if (!this.#queue) return Promise.resolve();
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  slot(): MaybePromise<LocalSlot> {
    return this.#waiting ?? this;
  }

  abort(reason: AppError): void {
    this.#running.abort(reason);
  }

  /** Ends the run of a session that is to be deleted: it stores nothing any more. */
  evict(reason: AppError): void {
    this.#evicted = reason;
    this.abort(reason);
  }

  checkMayWrite(): void {
    if (this.#evicted) throw this.#evicted;
  }

  trackWrite(write: Promise<unknown>): void {
    this.#writes ??= new PendingWrites();
    this.#writes.track(write);
  }

  start(): void {
    this.startedAtMs = Date.now();
    this.#onStart?.();
    this.#onStart = undefined;
  }

  /** Waits among others for `start`, and leaves them when the signal aborts. */
  wait(waiting: LocalSlot[]): void {
    const { signal } = this;
    this.#waiting = new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(this), 1);
        this.output.end(signal.reason);
        this.#end();
        reject(signal.reason as Error);
      };
      this.#onStart = () => {
        signal.removeEventListener('abort', leave);
        resolve(this);
      };
      signal.addEventListener('abort', leave, { once: true });
      const index = waiting.findIndex(({ rank }) => rank < this.rank);
      waiting.splice(index < 0 ? waiting.length : index, 0, this);
    });
    this.#waiting.catch(() => {}); // the run may end before its slot is awaited
  }

  release(): void {
    const queue = this.#queue;
    this.#end();
    queue?.startNext(this.#key, this);
  }

  #end(): void {
    if (!this.#queue) return;
    this.#queue = undefined;
    this.#running[Symbol.dispose]();
    this.output.end(undefined);
    const ended = this.#ended;
    if (!this.#evicted || !this.#writes) ended?.resolve();
    else void this.#writes.settled().then(ended?.resolve); // never rejects
  }
}

function refusal({ sessionId }: SessionKey, maxOpen: number): AppError {
  if (maxOpen === 0) {
    return new AppError('session_busy', `Session "${sessionId}" has a run in progress`, { retryAfter: 1 });
  }
  const message = `${maxOpen} runs are already waiting for session "${sessionId}"`;
  return new AppError('queue_full', message, { retryAfter: 1 });
}
