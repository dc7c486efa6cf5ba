import type { Run, RunStatus } from '../schemas/run-record.ts';
import type { SessionKey } from '../schemas/session.ts';
import type { RunKey } from './runs.ts';
import type { CollectOptions } from './services.ts';

// What a database decides about runs for all servers that share it: who is next in a session, who owns a run, who takes
// it over. Each server is a replica with an id and a heartbeat; a run is owned by the replica that accepted it, until the
// run is over or the replica dies.

/** A run in a store: the number of its session, and the run's key there. */
export interface RunRef {
  readonly session: number;
  readonly id: string;
}

/** `exclusive`: a short operation that needs the session for itself (rewind, rollback, deletion) and is not a run. */
export type RunKind = 'run' | 'live' | 'exclusive';

/** A run that joins the queue of its session. */
export interface NewRun {
  readonly key: RunKey;
  readonly kind: RunKind;
  /** It goes on when the client that started it leaves. */
  readonly isDetached: boolean;
  /** JSON of the request, for a replica that has to start the run again. */
  readonly input: string;
  readonly idempotencyKey?: string | undefined;
  readonly fingerprint?: string | undefined;
  /** Its id was generated for it, so there can be no run of that id. */
  readonly isNew: boolean;
  /** The id of the run to roll back before this one starts. */
  readonly rollbackOf?: string | undefined;
  /** Instead: rolls back the run that it preempts. */
  readonly rollsBackActive?: boolean | undefined;
}

export interface AdmissionRule {
  /** How many runs may be queued or active in the session before this one; 0: none. */
  readonly maxOpen: number;
  readonly rank: Rank;
}

/** The order in a queue, whenever runs came: exclusive operations, then runs that preempt the active one, then others. */
export const ranks = { exclusive: 2, preempting: 1, plain: 0 } as const;
export type Rank = (typeof ranks)[keyof typeof ranks];

/** A queued run that has started. */
export interface StartedRun {
  readonly fencingToken: number;
  /** As stored, in milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Another preempting run waits behind this one, which therefore stores its message and ends. */
  readonly isSuperseded: boolean;
  /** The id of the run to roll back: of those it preempted, the last that was active. */
  readonly rollbackOf: string | undefined;
}

/** A run that has joined its queue. It has started if it has a fencing token. */
export interface EnqueuedRun {
  readonly ref: RunRef;
  /** As stored, in milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly fencingToken: number | undefined;
  /** Events that it stored before, if it is resumed. */
  readonly appendedEvents: number;
}

/** A run as a store shows it. */
export interface StoredRun {
  readonly ref: RunRef;
  readonly run: Run;
  readonly ownerId: string | undefined;
  readonly fingerprint: string | undefined;
}

/** A run whose owner died, and which this replica owns now. */
export interface TakenOverRun {
  readonly ref: RunRef;
  readonly key: RunKey;
  readonly kind: RunKind;
  readonly isDetached: boolean;
  readonly input: string;
  /** Absent: it is still queued. */
  readonly fencingToken: number | undefined;
  readonly appendedEvents: number;
  /** How often it lost its owner while it was active. */
  readonly takeovers: number;
  /** Its owner was this replica: it lost the database connection, it did not crash. */
  readonly wasOwnedHere: boolean;
  /** Why it is to end, if it is. */
  readonly cancel: string | undefined;
  /** The id of the run to roll back. */
  readonly rollbackOf: string | undefined;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** A run that is to end, for this reason: `run_cancelled`, `run_interrupted`, or `session_not_found`. */
export interface CancelRequest {
  readonly ref: RunRef;
  readonly reason: string;
}

/** Stores runs and their owners. Decides what several replicas share, each method in one transaction. */
export interface RunStore {
  /** The id of this replica. */
  readonly replicaId: string;
  /**
   * Puts a run into the queue of its session; it starts at once if no run is before it. Throws `session_not_found`,
   * `session_busy` and `queue_full`; `run_exists` for a run or idempotency key that is there already.
   */
  enqueue(run: NewRun, rule: AdmissionRule): Promise<EnqueuedRun>;
  /** Starts a queued run if it is the next. `not_owner`: another replica owns it; `session_deleted`: it is gone. */
  tryStart(ref: RunRef): Promise<StartedRun | 'waiting' | 'not_owner' | 'session_deleted'>;
  /**
   * Ends a run and lets the next one start. Does nothing to a run that another replica owns by now. Without an end, the
   * run is deleted.
   */
  finish(ref: RunRef, fencingToken: number | undefined, end: RunEnd | undefined): Promise<void>;
  /** Asks the run to end, and notifies its owner if that is another replica. Resolves with the owner; `undefined` when the run is over. */
  cancel(ref: RunRef, reason: string): Promise<string | undefined>;
  /** The same for the active run of a session; resolves with it. */
  cancelActive(session: number, reason: string): Promise<(StoredRun & { ownerId: string }) | undefined>;
  /** Asks all runs of a session to end, but no exclusive operations, and notifies the owners that are other replicas. */
  cancelAll(session: number, reason: string): Promise<void>;
  /** A random text that is the same for all replicas: generated once. */
  secret(): Promise<string>;
  find(key: RunKey): Promise<StoredRun | undefined>;
  /** The run that was started with an idempotency key in the last 24 hours. */
  findByIdempotencyKey(session: SessionKey, idempotencyKey: string): Promise<StoredRun | undefined>;
  /** The newest first. */
  list(session: SessionKey, limit: number): Promise<StoredRun[]>;
  /**
   * Deletes runs that ended before this time, in milliseconds since the epoch, and their idempotency keys; runs that wait
   * for answers stay. Resolves with their number.
   */
  collectGarbage(endedBeforeMs: number, options: CollectOptions): Promise<number>;
  /** Renews the lease of this replica on its runs. Resolves with those of its runs that are to end. */
  heartbeat(): Promise<CancelRequest[]>;
  /**
   * Takes over at most `takeOverBatch` runs whose owner died, and runs of this replica that it no longer knows. `known`
   * returns the ids it knows; it is called again after the store has answered, because runs are enqueued meanwhile.
   * `mayJudge`: whether this replica was connected for long enough to tell which owners are dead.
   */
  takeOver(known: () => readonly string[], mayJudge: boolean): Promise<TakenOverRun[]>;
  /** Leaves runs of this replica to any other. */
  release(refs: readonly RunRef[]): Promise<void>;
  /** Sends a message to a replica; it may get lost. */
  send(replicaId: string, message: string): Promise<void>;
  /** `onMessage`: another replica sent something. `onDisconnect`: messages may have been lost. */
  listen(onMessage: (message: string) => void, onDisconnect: () => void): void;
  /** Deletes this replica. */
  close(): Promise<void>;
}

/** How many runs are taken over together: there may be more. */
export const takeOverBatch = 50;

/** How long the key of an idempotent request is known, in every store and in a process without one. */
export const keyLifetimeMs = 24 * 60 * 60_000;

/** How long a replica keeps its runs without a heartbeat. With less, a busy machine would count as dead. */
export const leaseMs = 6_000;
