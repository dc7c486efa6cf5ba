import { AppError, loggedError } from '../base/errors.ts';
import { Semaphore } from '../base/semaphore.ts';
import type { RunTicket } from '../core/runs.ts';
import type { RunLog } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import type { BackgroundRun, BackgroundRuns } from './background-runs.ts';
import { recordOf } from './run-records.ts';

/** A run whose message is stored: iterating it runs the agent. The signal aborts when the run has to end. */
interface BegunRun extends AsyncIterable<Event> {
  readonly signal: AbortSignal;
}

/** A run in the queue of its session. */
export interface Pending {
  readonly isWaiting: boolean;
  readonly isPersisted: boolean;
  begin(): Promise<BegunRun>;
}

/** Executes background runs, from the queue to their end. Limits how many run at the same time. */
export class BackgroundWorker {
  readonly #background: BackgroundRuns;
  readonly #permits: Semaphore;
  readonly #log: RunLog | undefined;

  constructor(background: BackgroundRuns, maxRuns: number, log: RunLog | undefined) {
    this.#background = background;
    this.#permits = new Semaphore(maxRuns);
    this.#log = log;
  }

  /** Resolves once the run has stored its message or is queued; the run then continues. Throws the reason of a rejection. */
  async begin(run: BackgroundRun, pending: Pending, ticket?: RunTicket): Promise<void> {
    if (pending.isPersisted) run.persisted = recordOf(run.key, run);
    const { isWaiting } = pending;
    const begun = pending.begin();
    void this.#work(run, begun, ticket); // never rejects: `run.failure` has the error
    if (!isWaiting) await begun;
    run.accept();
  }

  async #work(run: BackgroundRun, begun: Promise<BegunRun>, ticket: RunTicket | undefined): Promise<void> {
    let failure: unknown;
    let hasPermit = false;
    try {
      const started = await begun;
      run.startedAtMs = Date.now();
      ticket?.begun();
      const events = started[Symbol.asyncIterator]();
      hasPermit = await this.#acquirePermit(started.signal);
      for (let next = await events.next(); !next.done; next = await events.next()) run.log.append(next.value);
    } catch (error) {
      failure = error;
      const isForeseen = error instanceof AppError && error.errorId === undefined;
      if (!isForeseen) this.#log?.warn({ ...loggedError(error), runId: run.key.runId }, 'run failed');
    }
    run.end(failure);
    if (failure instanceof AppError && failure.code === 'session_not_found') this.#background.discard(run);
    else this.#background.retain(run);
    if (hasPermit) this.#permits.release();
  }

  /** Returns false if the run was ended while it waited: iterating it then stores the reason. */
  async #acquirePermit(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#permits.acquire(signal);
      return true;
    } catch {
      return false;
    }
  }
}
