import { AppError } from '../../base/errors.ts';
import {
  type EnqueuedRun,
  type NewRun,
  type RunEnd,
  type RunRef,
  type RunStore,
  type TakenOverRun,
} from '../../core/run-store.ts';
import type { RunLog } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import {
  admissionRule,
  exclusiveRule,
  type ExclusiveRequest,
  preempted,
  preempts,
  type QueueRequest,
  type RunQueue,
  sessionNotFound,
  type TakeoverQueue,
} from '../../runner/queue/run-queue.ts';
import type { OnBusy } from '../../schemas/run.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { Heartbeat, type LeaseHolder } from './heartbeat.ts';
import { leaseLost, type LeaseQueue, RunLease } from './run-lease.ts';

export interface LeasedRunQueueOptions {
  readonly store: RunStore;
  readonly sessions: SessionService;
  /** Runs that may wait for one session. Default 16. */
  readonly maxQueued?: number | undefined;
  readonly log?: RunLog | undefined;
}

/** How often a run that waits asks whether it is the next: notifications may get lost. */
const pollMs = 2_000;

/**
 * Decides, between all servers that share a database, what happens when a run comes while its session has an active one. The
 * active run owns its session under a fencing token, for as long as this replica sends heartbeats.
 */
export class LeasedRunQueue implements RunQueue, TakeoverQueue, LeaseQueue, LeaseHolder {
  readonly #options: LeasedRunQueueOptions;
  readonly #leases = new Map<string, RunLease>();
  readonly #heartbeat: Heartbeat;

  constructor(options: LeasedRunQueueOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat(options.store, this);
  }

  get isAlive(): boolean {
    return this.#heartbeat.isAlive;
  }

  get isStable(): boolean {
    return this.#heartbeat.isStable;
  }

  get isConnected(): boolean {
    return this.#heartbeat.isConnected;
  }

  /** The ids of the runs that are known here. */
  get runIds(): string[] {
    return [...this.#leases.values()].map(({ id }) => id);
  }

  /** Begins to tell that this replica lives. */
  start(): void {
    this.#heartbeat.start();
  }

  async acquire(request: QueueRequest, signal: AbortSignal): Promise<RunLease> {
    const { session, runId, kind, onBusy, isNew, submission } = request;
    const lease = await this.#newLease(session, runId, signal);
    lease.isDetached = submission !== undefined;
    const run: NewRun = {
      key: { ...lease.key, runId },
      kind,
      isDetached: lease.isDetached,
      input: JSON.stringify(request.request),
      idempotencyKey: submission?.idempotencyKey,
      fingerprint: submission?.fingerprint,
      isNew,
      rollsBackActive: onBusy === 'rollback',
    };
    await this.#admit(lease, run, onBusy);
    return lease;
  }

  async acquireExclusive({ session, onBusy, rollbackOf }: ExclusiveRequest, signal: AbortSignal): Promise<RunLease> {
    const lease = await this.#newLease(session, undefined, signal);
    await this.#admit(lease, { ...exclusiveRun(lease), rollbackOf }, onBusy);
    return lease.slot();
  }

  async takeOver(run: TakenOverRun, onBusy: OnBusy, signal: AbortSignal): Promise<RunLease> {
    const id = run.kind === 'exclusive' ? undefined : run.key.runId;
    const lease = await this.#newLease(run.key, id, signal);
    lease.isDetached = true;
    lease.ref = run.ref;
    lease.rollbackOf = run.rollbackOf;
    lease.wasAnnounced = true;
    const { fencingToken, appendedEvents } = run;
    if (fencingToken === undefined) lease.wait(this.#start(lease, appendedEvents, onBusy));
    else lease.start({ fencingToken, appendedEvents }, this.#options.sessions);
    return lease;
  }

  async acquireForDeletion(session: SessionKey, graceMs: number): Promise<RunLease> {
    const endMs = performance.now() + graceMs;
    const { store, sessions } = this.#options;
    const lease = await this.#newLease(session, undefined, new AbortController().signal);
    try {
      const enqueued = await store.enqueue(exclusiveRun(lease), exclusiveRule);
      lease.ref = enqueued.ref;
      if (isGranted(enqueued)) lease.start(enqueued, sessions);
      else await this.#endOtherRuns(lease, enqueued, endMs);
      return lease;
    } catch (error) {
      await lease.release(error);
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

  /** The run of this process with a key in the database. */
  find({ id }: Pick<RunRef, 'id'>): RunLease | undefined {
    return this.#leases.values().find((lease) => lease.ref?.id === id);
  }

  all(): readonly RunLease[] {
    return [...this.#leases.values()];
  }

  /** Leaves background runs to other replicas, which resume them after their last stored event. */
  async releaseDetached(): Promise<void> {
    const leases = this.all().filter(({ isDetached }) => isDetached);
    for (const lease of leases) lease.relinquish(new AppError('run_interrupted', 'The run goes on at another server'));
    await Promise.all(leases.map((lease) => lease.ended));
    await this.#options.store.release(leases.flatMap(({ ref }) => ref ?? []));
  }

  close(): void {
    this.#heartbeat.close();
  }

  async #newLease({ appName, userId, sessionId }: SessionKey, id: string | undefined, signal: AbortSignal) {
    signal.throwIfAborted();
    this.start();
    if (!this.isConnected) await this.#heartbeat.send(); // the others would take over a run of an unknown replica at once
    const lease = new RunLease({ appName, userId, sessionId }, id, signal, this);
    const name = nameOf(lease.key, lease.id);
    if (this.#leases.has(name)) {
      throw new AppError('session_busy', `Run "${lease.id}" has not ended yet`, { retryAfter: 1 });
    }
    this.#leases.set(name, lease);
    return lease;
  }

  /** Puts a run into its queue in the database. It has its session then, or waits for it. */
  async #admit(lease: RunLease, run: NewRun, onBusy: OnBusy): Promise<void> {
    const { store, sessions, maxQueued = 16 } = this.#options;
    try {
      const enqueued = await store.enqueue(run, admissionRule(onBusy, lease.isExclusive, maxQueued));
      lease.createdAtMs = enqueued.createdAtMs;
      lease.ref = enqueued.ref;
      lease.rollbackOf = run.rollbackOf;
      lease.wasAnnounced = !isGranted(enqueued);
      if (isGranted(enqueued)) lease.start(enqueued, sessions);
      else lease.wait(this.#start(lease, enqueued.appendedEvents, onBusy));
    } catch (error) {
      await lease.release(error);
      throw error;
    }
  }

  /** Resolves when a run that waits has its session. Releases its lease when it does not come to that. */
  async #start(lease: RunLease, appendedEvents: number, onBusy: OnBusy): Promise<void> {
    try {
      await this.#waitForStart(lease, appendedEvents, preempts(onBusy));
    } catch (error) {
      await lease.release(error);
      throw error;
    }
  }

  async #waitForStart(lease: RunLease, appendedEvents: number, isPreempting: boolean): Promise<void> {
    const { sessions, store } = this.#options;
    const { ref } = lease;
    if (!ref) throw leaseLost(lease.id);
    for (let mayStart = !isPreempting || !(await this.#preempt(ref)); ; mayStart = true) {
      lease.signal.throwIfAborted();
      const started = mayStart ? await store.tryStart(ref) : 'waiting';
      if (started === 'not_owner' || started === 'session_deleted') {
        lease.relinquish(started === 'not_owner' ? leaseLost(lease.id) : sessionNotFound(lease.key));
      } else if (started !== 'waiting') {
        const { fencingToken, startedAtMs } = started;
        lease.start({ fencingToken, appendedEvents, startedAtMs }, sessions);
        if (lease.isExclusive) return;
        lease.rollbackOf = started.rollbackOf;
        if (started.isSuperseded) lease.abort(preempted());
        return;
      }
      if (isPreempting && mayStart) await this.#preempt(ref); // another may have started meanwhile
      await lease.waitForWake(pollMs);
    }
  }

  /** Ends all other runs of a session, and waits until the lease has it, or until the time is over. */
  async #endOtherRuns(lease: RunLease, { ref, appendedEvents }: EnqueuedRun, endMs: number): Promise<void> {
    const { store, sessions } = this.#options;
    const deleted = sessionNotFound(lease.key);
    for (;;) {
      await store.cancelAll(ref.session, deleted.code);
      for (const run of this.#runsOf(ref)) run.evict(deleted);
      const started = await store.tryStart(ref);
      if (started === 'session_deleted') throw deleted;
      if (started === 'not_owner') throw leaseLost(lease.id);
      if (started !== 'waiting') return lease.start({ ...started, appendedEvents }, sessions);
      const restMs = endMs - performance.now();
      if (restMs <= 0) break;
      await lease.waitForWake(Math.min(restMs, pollMs));
    }
    for (const run of this.#runsOf(ref)) run.output.end(deleted);
  }

  #runsOf({ session }: RunRef): RunLease[] {
    return this.all().filter(({ ref, isExclusive }) => ref?.session === session && !isExclusive);
  }

  /** Ends the active run. Resolves with whether there is one. */
  async #preempt(ref: RunRef): Promise<boolean> {
    const { store } = this.#options;
    const current = await store.cancelActive(ref.session, 'run_interrupted');
    if (!current) return false;
    this.endRun(current.ref, 'run_interrupted');
    return true;
  }

  /** Ends a run if it is in this process. */
  endRun(ref: Pick<RunRef, 'id'>, reason: string): void {
    const lease = this.find(ref);
    if (reason === 'session_not_found') lease?.evict(sessionNotFound(lease.key));
    else lease?.abort(cancelReason(reason));
  }

  async finish(lease: RunLease, end: RunEnd | undefined): Promise<void> {
    const { store, log } = this.#options;
    try {
      if (lease.ref && !lease.isRelinquished) await store.finish(lease.ref, lease.fencingToken, end);
    } catch (error) {
      // It stays open in the database, and is taken over once that is back.
      log?.warn({ err: error, runId: lease.id }, 'the end of a run could not be stored');
    } finally {
      this.#leases.delete(nameOf(lease.key, lease.id));
      if (lease.isExclusive && lease.ref) for (const waiting of this.#runsOf(lease.ref)) waiting.wake(); // the session may be deleted
    }
  }

  relinquishAll(reason: AppError): void {
    for (const lease of this.#leases.values()) lease.relinquish(reason);
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey, id: string): string =>
  `${appName}\n${userId}\n${sessionId}\n${id}`;

/** Whether a run has the session at once. */
const isGranted = (run: EnqueuedRun): run is EnqueuedRun & { fencingToken: number } => run.fencingToken !== undefined;

const exclusiveRun = ({ key, id }: RunLease): NewRun => ({
  key: { ...key, runId: id },
  kind: 'exclusive',
  isDetached: false,
  input: '{}',
  isNew: true,
});

/** Why a run is to end, from the reason in the database. */
export function cancelReason(code: string): AppError {
  return code === 'run_cancelled' ? new AppError(code, 'The run was cancelled') : preempted();
}
