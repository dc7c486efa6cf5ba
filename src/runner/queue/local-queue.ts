import { completesWithin, LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { type Rank, ranks } from '../../core/run-store.ts';
import type { OnBusy } from '../../schemas/run.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import type { RunEventLog } from './event-log.ts';
import { PendingWrites } from './fenced-stores.ts';
import {
  type QueueRequest,
  preempts,
  type QueuedRun,
  admissionRule,
  type RunQueue,
  sessionNotFound,
  preempted,
  type RunSlot,
} from './run-queue.ts';

interface SessionRuns {
  running: LocalSlot;
  readonly waiting: LocalSlot[];
}

/** Lets one run at a time into each session; the others wait in the order they came. Sessions never wait for each other. */
export class LocalRunQueue implements RunQueue {
  readonly #sessions = new Map<string, SessionRuns>();
  readonly #maxWaiting: number;

  constructor(maxWaiting = 16) {
    this.#maxWaiting = maxWaiting;
  }

  async acquire(
    session: SessionKey,
    policy: OnBusy,
    signal: AbortSignal,
    request: QueueRequest = {},
  ): Promise<LocalSlot> {
    signal.throwIfAborted();
    const key = nameOf(session);
    const runs = this.#sessions.get(key);
    const isExclusive = request.id === undefined;
    if (!runs) {
      const slot = new LocalSlot(request.id ?? '', signal, key, this);
      this.#sessions.set(key, { running: slot, waiting: [] });
      slot.start();
      return slot;
    }
    const { maxOpen, rank } = admissionRule(policy, isExclusive, this.#maxWaiting);
    if (runs.waiting.length >= maxOpen) throw refusal(session, maxOpen);
    const slot = new LocalSlot(request.id ?? '', signal, key, this);
    slot.rank = rank;
    if (preempts(policy)) {
      if (policy === 'rollback') slot.rollbackOf = runs.running.id;
      runs.running.abort(preempted());
    }
    const waiting = waitForSlot(runs, slot);
    request.onQueued?.(slot.id);
    await waiting;
    return slot;
  }

  async acquireForDeletion(session: SessionKey, graceMs: number): Promise<LocalSlot> {
    const key = nameOf(session);
    const old = this.#sessions.get(key);
    const slot = new LocalSlot('', new AbortController().signal, key, this);
    slot.rank = ranks.exclusive;
    this.#sessions.set(key, { running: slot, waiting: [] });
    slot.start();
    if (!old) return slot;
    const reason = sessionNotFound(session);
    const slots = [old.running, ...old.waiting];
    const ended = Promise.all(slots.map((one) => one.ended));
    for (const one of slots) one.evict(reason);
    await completesWithin(ended, graceMs);
    for (const { log } of slots) log?.end(reason);
    return slot;
  }

  runsOf(session: SessionKey): readonly LocalSlot[] {
    const runs = this.#sessions.get(nameOf(session));
    return runs ? [runs.running, ...runs.waiting] : [];
  }

  /** Lets the run behind `seat` begin, unless that is not in progress any more. */
  startNext(key: string, slot: LocalSlot): void {
    const runs = this.#sessions.get(key);
    if (runs?.running !== slot) return;
    const next = runs.waiting.shift();
    if (!next) {
      this.#sessions.delete(key);
      return;
    }
    runs.running = next;
    if (next.rollbackOf !== undefined && slot.id !== '') next.rollbackOf = slot.id;
    next.start();
    const isSuperseded = runs.waiting[0]?.rank === ranks.preempting && next.rank !== ranks.exclusive;
    if (isSuperseded) next.abort(preempted());
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey): string => `${appName}\n${userId}\n${sessionId}`;

/** A class, because an object with functions of its own made for every run outlives the run in the garbage collector. */
export class LocalSlot implements RunSlot, QueuedRun {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs = Date.now();
  startedAtMs: number | undefined;
  rollbackOf: string | undefined;
  rank: Rank = ranks.plain;
  session: Session | undefined;
  log: RunEventLog | undefined;
  readonly #running: LinkedAbort;
  readonly #key: string;
  #queue: LocalRunQueue | undefined;
  #onStart: (() => void) | undefined;
  #ended: PromiseWithResolvers<void> | undefined;
  #writes: PendingWrites | undefined;
  #evicted: AppError | undefined;

  constructor(id: string, signal: AbortSignal, key: string, queue: LocalRunQueue) {
    this.id = id;
    this.#running = new LinkedAbort(signal);
    this.#key = key;
    this.#queue = queue;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  /** Resolves when the run is over. */
  get ended(): Promise<void> {
    if (!this.#queue) return Promise.resolve();
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  abort(reason: AppError): void {
    this.#running.abort(reason);
  }

  /** Ends the run of a session that is to be deleted. */
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

  /** Calls back when the run's turn has come. */
  whenStarted(onStart: () => void): void {
    this.#onStart = onStart;
  }

  release(): void {
    const queue = this.#queue;
    this.leave();
    queue?.startNext(this.#key, this);
  }

  /** Ends a run that had no turn, or has it no more. */
  leave(): void {
    if (!this.#queue) return;
    this.#queue = undefined;
    this.#running[Symbol.dispose]();
    this.log?.end(undefined);
    const ended = this.#ended;
    if (!this.#evicted || !this.#writes) ended?.resolve();
    else void this.#writes.settled().then(ended?.resolve); // never rejects
  }
}

function waitForSlot(runs: SessionRuns, slot: LocalSlot): Promise<void> {
  const { signal } = slot;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      runs.waiting.splice(runs.waiting.indexOf(slot), 1);
      slot.log?.end(signal.reason);
      slot.leave();
      reject(signal.reason as Error);
    };
    slot.whenStarted(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    signal.addEventListener('abort', leave, { once: true });
    const index = runs.waiting.findIndex(({ rank }) => rank < slot.rank);
    runs.waiting.splice(index < 0 ? runs.waiting.length : index, 0, slot);
  });
}

function refusal({ sessionId }: SessionKey, maxOpen: number): AppError {
  if (maxOpen === 0) {
    return new AppError('session_busy', `Session "${sessionId}" has a run in progress`, { retryAfter: 1 });
  }
  const message = `${maxOpen} runs are already waiting for session "${sessionId}"`;
  return new AppError('queue_full', message, { retryAfter: 1 });
}
