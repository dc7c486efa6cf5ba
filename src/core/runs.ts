import type { Event } from '../schemas/event.ts';
import type { Run, RunStatus } from '../schemas/run-record.ts';
import type { RunRequest } from '../schemas/run.ts';
import type { SessionKey } from '../schemas/session.ts';

// Runs as a resource: started, listed, followed and cancelled by clients other than the one that sent the message.

export interface RunKey extends SessionKey {
  readonly runId: string;
}

/** A position in the stream of a run: after so many stored events, and so many chunks of the next one. */
export interface Position {
  readonly events: number;
  readonly chunks: number;
}

/** An event or chunk of a run and its position. A chunk is an event that is streamed and not stored. */
export interface StreamedEvent extends Position {
  readonly event: Event;
}

export interface SubmitOptions {
  /** The same key starts one run, however often it is sent to a session. */
  readonly idempotencyKey?: string | undefined;
  /** Called for a run that is new, before it is queued. May throw `too_many_runs`. */
  readonly admit?: (() => RunTicket) | undefined;
}

/** Stands for a run that counts against limits. */
export interface RunTicket {
  /** The run has its session: it waits no longer. */
  begun(): void;
  /** The run is over, or was refused. Only the first call counts. */
  ended(): void;
}

export interface Submitted {
  readonly run: Run;
  /** An earlier request with the same key started the run. */
  readonly replayed: boolean;
}

export interface Runs {
  /**
   * Starts a run that goes on without its client. Throws what is the client's fault: `app_not_found`,
   * `session_not_found`, `invalid_request`, `session_busy`, `queue_full`, `idempotency_mismatch`, and what `admit` throws.
   */
  submit(request: RunRequest, options?: SubmitOptions): Promise<Submitted>;
  /** Throws `session_not_found` and `run_not_found`. */
  get(key: RunKey): Promise<Run>;
  /** Newest first. Throws `session_not_found`. */
  list(key: SessionKey, filter?: RunFilter): Promise<Run[]>;
  /** Ends a run and resolves once it is over; does nothing to a run that is over. Throws what `get` throws. */
  cancel(key: RunKey, options: { readonly rollback: boolean }, signal: AbortSignal): Promise<Run>;
  /** Resolves when the run is over, or after `timeoutMs` with the run as it is then. Throws what `get` throws. */
  wait(key: RunKey, timeoutMs: number, signal: AbortSignal): Promise<Run>;
  /**
   * The run's events after a position, until it is over. Throws the error that ended the run at the end. Throws what
   * `get` throws before the first event.
   */
  follow(key: RunKey, after: Position, signal: AbortSignal): Promise<AsyncIterable<StreamedEvent>>;
  /**
   * Ends the runs of a session with `session_not_found` and deletes it with its artifacts and memories. Runs that do not
   * end in time store nothing any more.
   */
  deleteSession(key: SessionKey): Promise<void>;
  /** Waits `graceMs` for the runs that no client is connected to, then ends the rest. */
  drain(graceMs: number): Promise<void>;
}

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
}
