import type { AppError } from '../base/errors.ts';
import type { RunRef } from '../core/run-store.ts';
import type { SessionService } from '../core/services.ts';
import type { OnBusy, RunRequest } from '../schemas/run.ts';
import type { Session, SessionKey } from '../schemas/session.ts';
import type { RunFeed } from './run-feed.ts';

/** The right to be the only run of a session. Its signal ends when the caller's does, or when another run interrupts. */
export interface Turn {
  readonly signal: AbortSignal;
  /** The run whose events are to be taken back before this one begins. */
  readonly takesBack: string | undefined;
  /** What to store through while the turn lasts, where that differs from how everybody else does. */
  readonly sessions?: SessionService | undefined;
  /** Throws when the run may have lost its session. */
  readonly check?: (() => void) | undefined;
  /** What the run reads and writes, once it has begun. */
  session: Session | undefined;
  /** Where to tell what the run yields; absent while nobody asks. */
  readonly feed: RunFeed | undefined;
  /** Ends the run from inside, for instance when its time is over. */
  abort(reason: AppError): void;
  /** Lets the next run begin; `failure` is what ended this one. Calling it again does nothing. */
  release(failure?: unknown): Promise<void> | void;
}

/** A run that is in a store already. */
export interface Claim {
  readonly ref: RunRef;
  /** The number under which it owns its session; absent: it waits in line. */
  readonly fence: number | undefined;
  /** Events the run has stored so far. */
  readonly steps: number;
  /** The run whose events it takes back. */
  readonly takesBack?: string | undefined;
}

/** How a run begins: beside what it is asked for. */
export interface StartOptions {
  /** Called when the run has to wait. */
  readonly onQueued?: ((runId: string) => void) | undefined;
  /** Called when the run is in a store: from now on it goes on, whatever happens here. */
  readonly onKept?: (() => void) | undefined;
  /** The run goes on without whoever started it. */
  readonly isDetached?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Tells requests of the same key apart. */
  readonly fingerprint?: string | undefined;
  readonly claim?: Claim | undefined;
  /** Its id was made for it. Default: when the request names none. */
  readonly isNew?: boolean | undefined;
}

/** What is known of a run when it asks for its turn. */
export interface Arrival extends StartOptions {
  /** The run's id. */
  readonly id?: string;
  readonly request?: RunRequest | undefined;
  readonly isLive?: boolean | undefined;
  /** The run whose events are to be taken back, where that is known already. */
  readonly takesBack?: string | undefined;
  /** Makes the session when there is none. */
  readonly createSession?: (() => Promise<unknown>) | undefined;
}

/** A run of this process that is not over. */
export interface LocalRun {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly session: Session | undefined;
  feed: RunFeed | undefined;
  /** Resolves when the run is over. */
  readonly over: Promise<void>;
  abort(reason: AppError): void;
}

/** Lets one run at a time into each session. */
export interface RunLine {
  /**
   * Resolves when it is this run's turn. Throws `session_busy` (policy `reject`), `queue_full`, or the signal's reason
   * when the caller leaves the line. `interrupt` and `rollback` end the run in progress and go next.
   */
  enter(session: SessionKey, policy: OnBusy, signal: AbortSignal, arrival?: Arrival): Promise<Turn>;
  /** The runs of a session in this process that are not over, the one in progress first. */
  of(session: SessionKey): readonly LocalRun[];
}
