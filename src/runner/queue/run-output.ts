import { shownEvents } from '../../core/run-status.ts';
import type { Event } from '../../schemas/event.ts';
import type { Session } from '../../schemas/session.ts';
import type { RunEventLog } from './event-log.ts';

/**
 * The events of a run of this process, for clients that join it. Recorded only from when the first client joins. The runner
 * appends; the end of the run ends it.
 */
export class RunOutput {
  readonly #runId: string;
  #session: Session | undefined;
  #log: RunEventLog | undefined;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** The session as the run sees it, once the run has started. */
  get session(): Session | undefined {
    return this.#session;
  }

  get log(): RunEventLog | undefined {
    return this.#log;
  }

  start(session: Session): void {
    this.#session = session;
  }

  append(event: Event, isChunk = event.partial === true): void {
    this.#log?.append(event, isChunk);
  }

  end(failure: unknown): void {
    this.#log?.end(failure);
  }

  /** Records into this log from now on, beginning with what the run has stored. */
  record(log: RunEventLog): RunEventLog {
    this.#log = log;
    for (const event of this.#session ? shownEvents(this.#session, this.#runId) : []) log.append(event);
    return log;
  }
}
