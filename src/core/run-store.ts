import type { Run, RunStatus } from '../schemas/run-record.ts';
import type { SessionKey } from '../schemas/session.ts';
import type { RunKey } from './runs.ts';
import type { CollectOptions } from './services.ts';

// A server that keeps runs in a store is a replica: it has a name there, and tells again and again that it lives. A run
// belongs to the replica that took it in, its home, until that is over or dies.

/** A run in a store: the number of its session, and its key there. */
export interface RunRef {
  readonly session: number;
  readonly id: string;
}

/** `hold` is no run: something else that has to be alone with the session for a moment. */
export type RunKind = 'run' | 'live' | 'hold';

/** A run that takes its place in the line of its session. */
export interface NewRun {
  readonly key: RunKey;
  readonly kind: RunKind;
  /** It goes on without whoever asked for it. */
  readonly isDetached: boolean;
  /** JSON of the request, for whoever has to begin again. */
  readonly input: string;
  readonly idempotencyKey?: string | undefined;
  readonly fingerprint?: string | undefined;
  /** Its id was made for it, so there can be no run of that id. */
  readonly isNew: boolean;
  /** The id of a run whose events are taken back when this one begins. */
  readonly takesBack?: string | undefined;
  /** Instead: of the run whose place it takes. */
  readonly takesBackCurrent?: boolean | undefined;
}

export interface Placing {
  /** How many runs may be open in the session before this one; 0: none. */
  readonly maxOpen: number;
  readonly rank: Rank;
}

/** Who goes before whom, whenever they came: what holds the session for a moment, runs that end the one in progress, others. */
export const ranks = { hold: 2, preempting: 1, plain: 0 } as const;
export type Rank = (typeof ranks)[keyof typeof ranks];

/** A run that has begun. */
export interface Begun {
  readonly fence: number;
  /** As the store has it, in milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** A run that ends the one in progress waits behind this one, which stores its message and ends. */
  readonly isSuperseded: boolean;
  /** The id of a run whose events it takes back: of those it took the place of, the last that ran. */
  readonly takesBack: string | undefined;
}

/** Where a run stands: it has begun when it has a fence, the number under which it owns its session. */
export interface Placed {
  readonly ref: RunRef;
  /** As the store has them, in milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly fence: number | undefined;
  /** Events it stored before, when it is one that goes on. */
  readonly steps: number;
}

/** A run as it is kept. */
export interface StoredRun {
  readonly ref: RunRef;
  readonly run: Run;
  readonly home: string | undefined;
  readonly fingerprint: string | undefined;
}

/** A run that lost its home, and got another. */
export interface AdoptedRun {
  readonly ref: RunRef;
  readonly key: RunKey;
  readonly kind: RunKind;
  readonly isDetached: boolean;
  readonly input: string;
  /** Absent: it waits in line. */
  readonly fence: number | undefined;
  readonly steps: number;
  /** How often it lost its home while it was in progress. */
  readonly attempts: number;
  /** Its home was this replica: the store was out of reach, not the replica. */
  readonly isOwn: boolean;
  /** Why it shall end. */
  readonly cancel: string | undefined;
  /** The id of the run whose events it takes back. */
  readonly takesBack: string | undefined;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** A run that shall end, for this reason: `run_cancelled`, `run_interrupted`, or `session_not_found`. */
export interface CancelFlag {
  readonly ref: RunRef;
  readonly reason: string;
}

/** Keeps runs and who may run which. All that several replicas share is decided here, each in one transaction. */
export interface RunStore {
  /** The name of this replica. */
  readonly home: string;
  /**
   * Puts a run into the line of its session; it begins when nobody is before it. Throws `session_not_found`,
   * `session_busy` and `queue_full`; a run or idempotency key that is there already is `run_exists`.
   */
  enter(run: NewRun, placing: Placing): Promise<Placed>;
  /** Begins a run that waited, if it is its turn. `gone`: it is not this replica's any more; `deleted`: nor anybody's. */
  begin(ref: RunRef): Promise<Begun | 'waits' | 'gone' | 'deleted'>;
  /**
   * Ends a run and lets the next one begin; one that is owned by somebody else by now is left alone. Without an end, the
   * run is forgotten.
   */
  finish(ref: RunRef, fence: number | undefined, end: RunEnd | undefined): Promise<void>;
  /** Asks the run to end, and tells its home, if that is another. Resolves with that; `undefined` when it is over. */
  cancel(ref: RunRef, reason: string): Promise<string | undefined>;
  /** The same for the run in progress of a session; resolves with it. */
  cancelCurrent(session: number, reason: string): Promise<(StoredRun & { home: string }) | undefined>;
  /** Asks all runs of a session to end, but no holds, and tells the homes of those that are elsewhere. */
  cancelAll(session: number, reason: string): Promise<void>;
  /** A random text that all servers share which share the store: made once. */
  secret(): Promise<string>;
  find(key: RunKey): Promise<StoredRun | undefined>;
  /** The run an idempotency key of the last 24 hours stands for. */
  asked(session: SessionKey, idempotencyKey: string): Promise<StoredRun | undefined>;
  /** The newest first. */
  list(session: SessionKey, limit: number): Promise<StoredRun[]>;
  /**
   * Forgets runs that ended before this time, in milliseconds since the epoch, and their idempotency keys; those that wait
   * for answers stay. Gives their number.
   */
  collectGarbage(endedBeforeMs: number, options: CollectOptions): Promise<number>;
  /** Says that this replica lives, and asks which of its runs shall end. */
  beat(): Promise<CancelFlag[]>;
  /**
   * Takes over runs, so many at once, whose home is dead, and those of this replica that nobody here knows any more. `known` gives the ids
   * of the others; it is asked again when the store has answered, for runs are entered meanwhile. `mayJudge`: whether
   * this replica was in touch long enough to tell who is dead.
   */
  adopt(known: () => readonly string[], mayJudge: boolean): Promise<AdoptedRun[]>;
  /** Gives runs of this replica to whoever wants them. */
  handBack(refs: readonly RunRef[]): Promise<void>;
  /** Tells another replica something; it may get lost. */
  send(home: string, message: string): Promise<void>;
  /** `onMessage` for what others send; `onBreak` when messages may have been lost. */
  listen(onMessage: (message: string) => void, onBreak: () => void): void;
  /** Says that this replica is gone. */
  close(): Promise<void>;
}

/** How many runs are taken over together: there may be more. */
export const adoptedAtOnce = 50;

/** How long a replica lives without a word. Shorter, and a busy machine would count as dead. */
export const leaseMs = 6_000;
