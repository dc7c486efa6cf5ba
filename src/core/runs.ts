import type { Event } from '../schemas/event.ts';
import type { Run, RunStatus } from '../schemas/run-record.ts';
import type { RunRequest } from '../schemas/run.ts';
import type { SessionKey } from '../schemas/session.ts';

/** Which run. */
export interface RunKey extends SessionKey {
  readonly runId: string;
}

/** A place in the stream of a run: behind so many whole events, and so many pieces of the next. */
export interface Position {
  readonly whole: number;
  readonly piece: number;
}

/** An event of a run and its place. A piece is an event that is shown and not stored. */
export interface Frame extends Position {
  readonly event: Event;
}

export interface SubmitOptions {
  /** The same key starts one run, however often it comes to a session. */
  readonly idempotencyKey?: string | undefined;
}

export interface Submitted {
  readonly run: Run;
  /** The run was started by an earlier request of the same key. */
  readonly replayed: boolean;
}

/** Runs that can be looked at, joined and ended by others than the one that started them. */
export interface Runs {
  /**
   * Starts a run that goes on by itself. What is the caller's fault is thrown: `app_not_found`, `session_not_found`,
   * `invalid_request`, `session_busy`, `queue_full`, `idempotency_mismatch`.
   */
  submit(request: RunRequest, options?: SubmitOptions): Promise<Submitted>;
  /** Throws `session_not_found` and `run_not_found`. */
  get(key: RunKey): Promise<Run>;
  /** Newest first. Throws `session_not_found`. */
  list(key: SessionKey, filter?: RunFilter): Promise<Run[]>;
  /** Ends a run and resolves once it is over; one that is over already stays as it is. Throws what `get` throws. */
  cancel(key: RunKey, options: { readonly rollback: boolean }, signal: AbortSignal): Promise<Run>;
  /** Resolves when the run is over, or after `timeoutMs` with the run as it is then. Throws what `get` throws. */
  wait(key: RunKey, timeoutMs: number, signal: AbortSignal): Promise<Run>;
  /**
   * The run's events from behind `after` on, until it is over. What ended the run is thrown at the end. Throws before
   * the first event what `get` throws.
   */
  follow(key: RunKey, after: Position, signal: AbortSignal): Promise<AsyncIterable<Frame>>;
  /**
   * Ends the runs of a session with `session_not_found` and deletes it with its artifacts and memories. Runs that do not
   * end in time are left behind; nothing of them is stored.
   */
  deleteSession(key: SessionKey): Promise<void>;
  /** Waits `graceMs` for the runs that nobody holds a connection to, then ends the rest. */
  drain(graceMs: number): Promise<void>;
}

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
}
