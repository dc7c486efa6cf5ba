import { AppError } from '../../base/errors.ts';
import {
  leaseMs,
  type NewRun,
  type EnqueuedRun,
  type AdmissionRule,
  type RunEnd,
  type RunRef,
  type RunStore,
} from '../../core/run-store.ts';
import type { RunLog } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import {
  type QueueRequest,
  type ExistingLease,
  exclusiveRule,
  preempts,
  admissionRule,
  type RunQueue,
  sessionNotFound,
  preempted,
  type RunSlot,
} from '../../runner/queue/run-queue.ts';
import type { OnBusy } from '../../schemas/run.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { RunLease, leaseLost, type LeaseHolder } from './run-lease.ts';

export interface LeasedRunQueueOptions {
  readonly store: RunStore;
  readonly sessions: SessionService;
  /** Runs that may wait for one session. Default 16. */
  readonly maxQueued?: number | undefined;
  readonly log?: RunLog | undefined;
}

const heartbeatMs = 1_000;
const heartbeatRetryMs = 250;
/** After so long without an answer of the store, others may count this replica as dead soon. */
const maxSilenceMs = leaseMs - heartbeatMs;
/** A run that waits asks again after this, should nobody have told it. */
const pollMs = 2_000;

/**
 * Lets one run at a time into each session, over all servers that share a store. A run that is begun holds its session
 * under a number that grows with each owner; whoever lost it stores nothing more.
 */
export class LeasedRunQueue implements RunQueue {
  readonly #options: LeasedRunQueueOptions;
  readonly #leases = new Map<string, RunLease>();
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #heartbeatSent: Promise<void> | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #lastHeartbeatMs = Number.NEGATIVE_INFINITY;
  #stableSinceMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  readonly #holder: LeaseHolder = {
    finish: (lease, end) => this.#finish(lease, end),
    isConnected: () => this.#msSinceHeartbeat < maxSilenceMs,
  };

  constructor(options: LeasedRunQueueOptions) {
    this.#options = options;
  }

  /** Whether the store was in reach for a whole lease: only then can this replica tell who is dead. */
  get isStable(): boolean {
    return this.#holder.isConnected() && performance.now() - this.#stableSinceMs > leaseMs;
  }

  /** Whether the store answered the last time it was told that this replica lives. */
  get isConnected(): boolean {
    return this.#stableSinceMs < Number.POSITIVE_INFINITY;
  }

  /** The ids of the runs that are known here. */
  get runIds(): string[] {
    return [...this.#leases.values()].map(({ id }) => id);
  }

  /** Begins to tell that this replica lives. */
  start(): void {
    if (this.#watchdog || this.#isClosed) return;
    this.#watchdog = setInterval(() => this.#checkConnection(), heartbeatMs / 2).unref();
    this.#heartbeatAfter(0);
  }

  async acquire(session: SessionKey, policy: OnBusy, signal: AbortSignal, queued: QueueRequest = {}): Promise<RunSlot> {
    signal.throwIfAborted();
    this.start();
    if (!this.isConnected) await this.#heartbeat(); // a run whose replica nobody knows of would be taken over at once
    const { appName, userId, sessionId } = session;
    const key = { appName, userId, sessionId };
    const lease = new RunLease(key, queued.id, signal, this.#holder);
    lease.isDetached = queued.isDetached === true;
    const name = nameOf(session, lease.id);
    if (this.#leases.has(name)) {
      throw new AppError('session_busy', `Run "${lease.id}" is not over yet`, { retryAfter: 1 });
    }
    this.#leases.set(name, lease);
    try {
      await this.#admit(lease, policy, queued);
      return lease;
    } catch (error) {
      await lease.release(error);
      throw error;
    }
  }

  async acquireForDeletion(session: SessionKey, graceMs: number): Promise<RunSlot> {
    const endMs = performance.now() + graceMs;
    this.start();
    if (!this.isConnected) await this.#heartbeat();
    const { appName, userId, sessionId } = session;
    const exclusive = new RunLease(
      { appName, userId, sessionId },
      undefined,
      new AbortController().signal,
      this.#holder,
    );
    this.#leases.set(nameOf(session, exclusive.id), exclusive);
    try {
      const enqueued = await this.#enqueue(exclusive, {}, exclusiveRule);
      exclusive.ref = enqueued.ref;
      if (enqueued.fencingToken !== undefined) exclusive.begin(enqueued, enqueued.fencingToken, this.#options.sessions);
      else await this.#endOtherRuns(exclusive, enqueued, endMs);
      return exclusive;
    } catch (error) {
      await exclusive.release(error);
      throw error;
    }
  }

  runsOf(session: SessionKey): readonly RunLease[] {
    const prefix = nameOf(session, '');
    const leases: RunLease[] = [];
    for (const [name, lease] of this.#leases) {
      if (!lease.isExclusive && !lease.isEvicted && name.startsWith(prefix)) leases.push(lease);
    }
    return leases.toSorted((one, other) => (one.startedAtMs ?? Infinity) - (other.startedAtMs ?? Infinity));
  }

  /** The run of a key in the store. */
  find({ id }: Pick<RunRef, 'id'>): RunLease | undefined {
    return this.#leases.values().find((lease) => lease.ref?.id === id);
  }

  all(): readonly RunLease[] {
    return [...this.#leases.values()];
  }

  /** Leaves the runs that go on by themselves to others, who go on from the last event that is stored. */
  async releaseDetached(): Promise<void> {
    const leases = this.all().filter(({ isDetached }) => isDetached);
    for (const lease of leases) lease.relinquish(new AppError('run_interrupted', 'The run goes on at another server'));
    await Promise.all(leases.map((lease) => lease.ended));
    await this.#options.store.release(leases.flatMap(({ ref }) => ref ?? []));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#heartbeatTimer);
    clearInterval(this.#watchdog);
  }

  /** Ends the runs before and behind `hold`, and waits until it is its turn, or until the time is over. */
  async #endOtherRuns(exclusive: RunLease, enqueued: EnqueuedRun, endMs: number): Promise<void> {
    const { store, sessions } = this.#options;
    const { ref } = enqueued;
    const deleted = sessionNotFound(exclusive.key);
    for (;;) {
      await store.cancelAll(ref.session, deleted.code);
      for (const lease of this.#runsOf(ref)) lease.evict(deleted);
      const started = await store.tryStart(ref);
      if (started === 'session_deleted') throw deleted;
      if (started === 'not_owner') throw leaseLost(exclusive.id);
      if (started !== 'waiting')
        return exclusive.begin({ ...enqueued, fencingToken: started.fencingToken }, started.fencingToken, sessions);
      const restMs = endMs - performance.now();
      if (restMs <= 0) break;
      await exclusive.waitForWake(Math.min(restMs, pollMs));
    }
    for (const lease of this.#runsOf(ref)) lease.log?.end(deleted);
  }

  #runsOf({ session }: RunRef): RunLease[] {
    return this.all().filter(({ ref, isExclusive }) => ref?.session === session && !isExclusive);
  }

  get #maxQueued(): number {
    return this.#options.maxQueued ?? 16;
  }

  async #admit(lease: RunLease, policy: OnBusy, queued: QueueRequest): Promise<void> {
    const rule = admissionRule(policy, lease.isExclusive, this.#maxQueued);
    const claim = queued.claim ?? (await this.#enqueue(lease, { ...queued, policy }, rule));
    lease.createdAtMs = claim.createdAtMs ?? lease.createdAtMs;
    lease.ref = claim.ref;
    queued.onPersisted?.();
    lease.rollbackOf = queued.rollbackOf ?? queued.claim?.rollbackOf;
    lease.hasWaited = claim.fencingToken === undefined || queued.claim !== undefined;
    if (claim.fencingToken !== undefined) lease.begin(claim, claim.fencingToken, this.#options.sessions);
    else {
      queued.onQueued?.(lease.id);
      await this.#wait(lease, claim, policy);
    }
  }

  async #wait(lease: RunLease, claim: ExistingLease, policy: OnBusy): Promise<void> {
    const { sessions, store } = this.#options;
    const isPreempting = preempts(policy);
    for (let mayStart = !isPreempting || !(await this.#preempt(claim.ref)); ; mayStart = true) {
      lease.signal.throwIfAborted();
      const started = mayStart ? await store.tryStart(claim.ref) : 'waiting';
      if (started === 'not_owner' || started === 'session_deleted') {
        lease.relinquish(started === 'not_owner' ? leaseLost(lease.id) : sessionNotFound(lease.key));
      } else if (started !== 'waiting') {
        lease.begin({ ...claim, startedAtMs: started.startedAtMs }, started.fencingToken, sessions);
        if (!lease.isExclusive) {
          lease.rollbackOf = started.rollbackOf;
          if (started.isSuperseded) lease.abort(preempted());
        }
        return;
      }
      if (isPreempting && mayStart) await this.#preempt(claim.ref); // another may have begun meanwhile
      await lease.waitForWake(pollMs);
    }
  }

  async #enqueue(
    lease: RunLease,
    {
      request,
      isLive,
      isDetached = false,
      idempotencyKey,
      fingerprint,
      createSession,
      isNew,
      rollbackOf,
      policy,
    }: QueueRequest & { policy?: OnBusy },
    rule: AdmissionRule,
  ): Promise<EnqueuedRun> {
    const run: NewRun = {
      key: { ...lease.key, runId: lease.id },
      kind: lease.isExclusive ? 'exclusive' : isLive ? 'live' : 'run',
      isDetached,
      input: JSON.stringify(request ?? {}),
      idempotencyKey,
      fingerprint,
      isNew: isNew ?? request?.invocationId === undefined,
      rollbackOf,
      rollsBackActive: policy === 'rollback' && !lease.isExclusive,
    };
    try {
      return await this.#options.store.enqueue(run, rule);
    } catch (error) {
      if (!createSession || !(error instanceof AppError) || error.code !== 'session_not_found') throw error;
      await createSession();
      return this.#options.store.enqueue(run, rule);
    }
  }

  /** Ends the run in progress. Resolves with whether there is one. */
  async #preempt(ref: RunRef): Promise<boolean> {
    const { store } = this.#options;
    const current = await store.cancelActive(ref.session, 'run_interrupted');
    if (!current) return false;
    this.end(current.ref, 'run_interrupted');
    return true;
  }

  /** Tells a run that it shall end, if it is here. */
  end(ref: Pick<RunRef, 'id'>, reason: string): void {
    const lease = this.find(ref);
    if (reason === 'session_not_found') lease?.evict(sessionNotFound(lease.key));
    else lease?.abort(cancelReason(reason));
  }

  async #finish(lease: RunLease, end: RunEnd | undefined): Promise<void> {
    const { store, log } = this.#options;
    try {
      if (lease.ref && !lease.isRelinquished) await store.finish(lease.ref, lease.fencingToken, end);
    } catch (error) {
      // It stays open in the store, and is looked after when that is back.
      log?.warn({ err: error, runId: lease.id }, 'the end of a run could not be stored');
    } finally {
      this.#leases.delete(nameOf(lease.key, lease.id));
      if (lease.isExclusive && lease.ref) for (const waiting of this.#runsOf(lease.ref)) waiting.wake(); // is the session gone?
    }
  }

  get #msSinceHeartbeat(): number {
    return performance.now() - this.#lastHeartbeatMs;
  }

  /** One at a time: whoever asks meanwhile waits for the same answer. */
  #heartbeat(): Promise<void> {
    return (this.#heartbeatSent ??= this.#sendHeartbeat().finally(() => (this.#heartbeatSent = undefined)));
  }

  async #sendHeartbeat(): Promise<void> {
    const sentMs = performance.now();
    try {
      const flags = await this.#options.store.heartbeat();
      this.#lastHeartbeatMs = sentMs;
      if (this.#stableSinceMs === Infinity) this.#stableSinceMs = sentMs;
      for (const { ref, reason } of flags) this.end(ref, reason);
    } catch (error) {
      this.#stableSinceMs = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  #heartbeatAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#heartbeatTimer = setTimeout(() => {
      this.#heartbeat().then(
        () => this.#heartbeatAfter(heartbeatMs),
        () => this.#heartbeatAfter(heartbeatRetryMs),
      );
    }, ms).unref();
  }

  /** Others may take over what is ours once the lease is over: so it ends here before. */
  #checkConnection(): void {
    if (this.#msSinceHeartbeat < maxSilenceMs || this.#lastHeartbeatMs === -Infinity) return;
    this.#stableSinceMs = Number.POSITIVE_INFINITY;
    const reason = new AppError('unavailable', 'The database cannot be reached', { retryAfter: 2 });
    for (const lease of this.#leases.values()) lease.relinquish(reason);
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey, id: string): string =>
  `${appName}\n${userId}\n${sessionId}\n${id}`;

/** Why a run is to end, from what the store says of it. */
export function cancelReason(code: string): AppError {
  return code === 'run_cancelled' ? new AppError(code, 'The run was cancelled') : preempted();
}
