import { AppError } from '../../base/errors.ts';
import { type AdmissionRule, ranks, type RunRef } from '../../core/run-store.ts';
import type { SessionService } from '../../core/services.ts';
import type { OnBusy, RunRequest } from '../../schemas/run.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import type { RunEventLog } from './event-log.ts';
import type { WritePermit } from './fenced-stores.ts';

/** The right to be the only run of a session. Its signal ends when the caller's does, or when another run interrupts. */
export interface RunSlot extends WritePermit {
  readonly signal: AbortSignal;
  /** The run whose events are to be taken back before this one begins. */
  readonly rollbackOf: string | undefined;
  /** What to store through while the turn lasts, where that differs from how everybody else does. */
  readonly sessions?: SessionService | undefined;
  /** What the run reads and writes, once it has begun. */
  session: Session | undefined;
  /** Where to tell what the run yields; absent while nobody asks. */
  readonly log: RunEventLog | undefined;
  /** Ends the run from inside, for instance when its time is over. */
  abort(reason: AppError): void;
  /** Lets the next run begin; `failure` is what ended this one. Calling it again does nothing. */
  release(failure?: unknown): Promise<void> | void;
}

/** A run that is in a store already. */
export interface ExistingLease {
  readonly ref: RunRef;
  /** The number under which it owns its session; absent: it waits in line. */
  readonly fencingToken: number | undefined;
  /** Events the run has stored so far. */
  readonly appendedEvents: number;
  /** The run whose events it takes back. */
  readonly rollbackOf?: string | undefined;
  /** Times of its record, in milliseconds since the epoch. */
  readonly createdAtMs?: number;
  readonly startedAtMs?: number | undefined;
}

/** How a run begins: beside what it is asked for. */
export interface StartOptions {
  /** Called when the run has to wait. */
  readonly onQueued?: ((runId: string) => void) | undefined;
  /** Waited for before the agent begins; the signal ends when the run does. */
  readonly begins?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Called when the run is in a store: from now on it goes on, whatever happens here. */
  readonly onPersisted?: (() => void) | undefined;
  /** The run goes on without whoever started it. */
  readonly isDetached?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Tells requests of the same key apart. */
  readonly fingerprint?: string | undefined;
  readonly claim?: ExistingLease | undefined;
  /** Its id was made for it. Default: when the request names none. */
  readonly isNew?: boolean | undefined;
}

/** What is known of a run when it asks for its turn. */
export interface QueueRequest extends StartOptions {
  /** The run's id. */
  readonly id?: string;
  readonly request?: RunRequest | undefined;
  readonly isLive?: boolean | undefined;
  /** The run whose events are to be taken back, where that is known already. */
  readonly rollbackOf?: string | undefined;
  /** Makes the session when there is none. */
  readonly createSession?: (() => Promise<unknown>) | undefined;
}

/** A run of this process that is not over. */
export interface QueuedRun {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly session: Session | undefined;
  log: RunEventLog | undefined;
  /** Resolves when the run is over. */
  readonly ended: Promise<void>;
  abort(reason: AppError): void;
}

/** How many runs may wait that end the one in progress, beside the others: each takes its turn for a moment only. */
const maxPreempting = 256;

export const preempts = (policy: OnBusy): boolean => policy === 'interrupt' || policy === 'rollback';

/** What takes something back, or deletes, is never too much. */
export const exclusiveRule: AdmissionRule = { maxOpen: 1_000_000_000, rank: ranks.exclusive };

/** Where a run takes its place in line. `hold`: it is no run. */
export function admissionRule(policy: OnBusy, isHold: boolean, maxQueued: number): AdmissionRule {
  if (!preempts(policy)) return { maxOpen: policy === 'reject' ? 0 : maxQueued, rank: ranks.plain };
  return isHold ? exclusiveRule : { maxOpen: maxQueued + maxPreempting, rank: ranks.preempting };
}

export const preempted = (): AppError => new AppError('run_interrupted', 'Another run of this session took its place');

export const sessionNotFound = ({ sessionId }: SessionKey): AppError =>
  new AppError('session_not_found', `Session not found: ${sessionId}`);

/** Lets one run at a time into each session. */
export interface RunQueue {
  /**
   * Resolves when it is this run's turn. Throws `session_busy` (policy `reject`), `queue_full`, or the signal's reason
   * when the caller leaves the line. `interrupt` and `rollback` end the run in progress and go before those of other
   * policies, in the order they came. One that has another such run behind it is told to end as soon as its turn comes.
   */
  acquire(session: SessionKey, policy: OnBusy, signal: AbortSignal, arrival?: QueueRequest): Promise<RunSlot>;
  /**
   * Ends all runs of a session that is to be deleted with `session_not_found`: none of them stores anything from now on.
   * Resolves, when they are over or after `graceMs`, with a turn that no other run has; those that come meanwhile wait
   * for its end. Throws `session_not_found` where the line knows sessions.
   */
  acquireForDeletion(session: SessionKey, graceMs: number): Promise<RunSlot>;
  /** The runs of a session in this process that are not over, the one in progress first. */
  runsOf(session: SessionKey): readonly QueuedRun[];
}
