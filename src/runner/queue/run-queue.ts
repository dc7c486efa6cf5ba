import { AppError } from '../../base/errors.ts';
import { type AdmissionRule, ranks, type RunKind, type TakenOverRun } from '../../core/run-store.ts';
import type { MaybePromise } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import type { OnBusy, RunRequest } from '../../schemas/run.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { WritePermit } from './fenced-stores.ts';
import type { RunOutput } from './run-output.ts';

// Decides whether a run may join the queue, which run goes before which (`admissionRule`), and whether it preempts the
// active one (`preempts`). The two queues carry it out: local-queue.ts within one process (`#enter` aborts the preempted
// run), runs/cluster/leased-queue.ts between servers that share a database.

/** A run that requests its session. */
export interface QueueRequest {
  readonly session: SessionKey;
  readonly runId: string;
  readonly kind: Exclude<RunKind, 'exclusive'>;
  readonly onBusy: OnBusy;
  /** The request, with which a replica that takes over the run starts it. */
  readonly request: RunRequest;
  /** The id was generated for this run, so no other run has it. */
  readonly isNew: boolean;
  /** Present: the run continues when the client that started it disconnects. */
  readonly submission: Submission | undefined;
}

/** The request for a background run. Key and fingerprint are absent without an idempotency key. */
export interface Submission {
  /** Its id was generated for it. */
  readonly isNew: boolean;
  readonly idempotencyKey: string | undefined;
  /** Distinguishes requests with the same key. */
  readonly fingerprint: string | undefined;
}

/** A run of this process in the queue of its session: it waits, or is the active one. */
export interface QueuedRun {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  /** Other runs of the session go before it. */
  readonly isWaiting: boolean;
  /** A database has the run: it is resumed on another replica or later, even if this process ends. */
  readonly isPersisted: boolean;
  readonly output: RunOutput;
  /** Resolves when the run is over. */
  readonly ended: Promise<void>;
  /** Resolves with exclusive access to the session. Rejects with the signal's reason, or the reason why the run left the queue. */
  slot(): MaybePromise<RunSlot>;
  /** Ends the run, whether it waits or is active. */
  abort(reason: AppError): void;
}

/** Exclusive access to a session for one run. The signal aborts when the client disconnects or another run preempts it. */
export interface RunSlot extends WritePermit {
  readonly signal: AbortSignal;
  /** The run to roll back before this one starts. */
  readonly rollbackOf: string | undefined;
  /** Stores for this slot only, where they differ from those of the process. */
  readonly sessions?: SessionService | undefined;
  readonly output: RunOutput;
  /** Ends the run, for example at its time limit. */
  abort(reason: AppError): void;
  /** Lets the next run start; `failure` is the error that ended this one. Only the first call counts. */
  release(failure?: unknown): Promise<void> | void;
}

/** A request for exclusive access by a short operation that is not a run. `rollback`: it preempts the active run. */
export interface ExclusiveRequest {
  readonly session: SessionKey;
  readonly onBusy: 'reject' | 'rollback';
  /** The run it rolls back, for a replica that has to finish the rollback. */
  readonly rollbackOf?: string | undefined;
}

/** Admits one run at a time to each session. */
export interface RunQueue {
  /**
   * Puts a run into the queue of its session. Resolves when it is there: `slot()` of the result waits for the session.
   * Throws `session_busy` (policy `reject`), `queue_full`, and the signal's reason. `interrupt` and `rollback` end the
   * active run and go before the runs of other policies, in the order they came; all of them but the last are ended as
   * soon as they start.
   */
  acquire(request: QueueRequest, signal: AbortSignal): Promise<QueuedRun>;
  /** Resolves with the session for an operation that is not a run. Throws what `acquire` throws. */
  acquireExclusive(request: ExclusiveRequest, signal: AbortSignal): Promise<RunSlot>;
  /**
   * Ends all runs of a session that is to be deleted with `session_not_found`; from now on they store nothing. Resolves
   * when they are over or after `graceMs`; runs that come meanwhile wait for the release of the slot. Throws
   * `session_not_found` where the queue knows sessions.
   */
  acquireForDeletion(session: SessionKey, graceMs: number): Promise<RunSlot>;
  /** The runs of a session in this process that are not over, the active one first. */
  runsOf(session: SessionKey): readonly QueuedRun[];
}

/** Queues runs that lost their server. */
export interface TakeoverQueue {
  /** Continues a run, or exclusive operation, that this replica owns now. */
  takeOver(run: TakenOverRun, onBusy: OnBusy, signal: AbortSignal): Promise<QueuedRun>;
}

/** How many preempting runs may wait beside the others: each is active for a moment only. */
const maxPreempting = 256;

export const preempts = (policy: OnBusy): boolean => policy === 'interrupt' || policy === 'rollback';

/** Rollbacks and deletions are never refused for their number. */
export const exclusiveRule: AdmissionRule = { maxOpen: 1_000_000_000, rank: ranks.exclusive };

/** When a run of this policy is admitted, and before which others. */
export function admissionRule(policy: OnBusy, isExclusive: boolean, maxQueued: number): AdmissionRule {
  if (!preempts(policy)) return { maxOpen: policy === 'reject' ? 0 : maxQueued, rank: ranks.plain };
  return isExclusive ? exclusiveRule : { maxOpen: maxQueued + maxPreempting, rank: ranks.preempting };
}

export const preempted = (): AppError => new AppError('run_interrupted', 'Another run of this session took its place');

export const sessionNotFound = ({ sessionId }: SessionKey): AppError =>
  new AppError('session_not_found', `Session not found: ${sessionId}`);
