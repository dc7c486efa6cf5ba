import { AppError } from '../base/errors.ts';
import { shownEvents } from '../core/run-status.ts';
import type { Position, RunKey, StreamedEvent } from '../core/runs.ts';
import type { Services } from '../core/services.ts';
import { EventLogMemory } from '../runner/queue/event-log-memory.ts';
import { RunEventLog } from '../runner/queue/event-log.ts';
import { type QueuedRun, type RunQueue, sessionNotFound } from '../runner/queue/run-queue.ts';
import { storedEvents } from '../runner/queue/stored-events.ts';
import { BackgroundRun, type BackgroundRuns, type KeyedRequest } from './background-runs.ts';

/** Finds the open runs of this process, and their event logs. A log is created when the first client joins. */
export class LocalRuns {
  readonly #queue: RunQueue;
  readonly #background: BackgroundRuns;
  readonly #services: Services;
  /** Bounds all event logs of the process together. */
  readonly logMemory = new EventLogMemory();

  constructor(queue: RunQueue, background: BackgroundRuns, services: Services) {
    this.#queue = queue;
    this.#background = background;
    this.#services = services;
  }

  find(key: RunKey): QueuedRun | undefined {
    return this.#queue.runsOf(key).find(({ id }) => id === key.runId);
  }

  /** The log of an open run; `undefined` if this process does not have the run. */
  logOf(key: RunKey): RunEventLog | undefined {
    const background = this.#background.find(key);
    if (background && !background.hasEnded) return background.log;
    const output = this.find(key)?.output;
    return output && (output.log ?? output.record(this.#newLog(key)));
  }

  /** The log of a run for another replica. Throws `run_not_found`. */
  follow(key: RunKey, after: Position, signal: AbortSignal): AsyncIterable<StreamedEvent> {
    const log = this.logOf(key);
    if (log) return log.read(after, signal);
    throw new AppError('run_not_found', `Run "${key.runId}" is not here`);
  }

  /** Adds a background run, before it is queued. */
  addBackground(key: RunKey, keyed?: KeyedRequest): BackgroundRun {
    const run = new BackgroundRun(key, this.#newLog(key), keyed);
    this.#background.add(run);
    return run;
  }

  /** Fills the log of a resumed run with what it has stored so far. Throws `session_not_found`. */
  async replayStored({ key, log }: BackgroundRun): Promise<void> {
    const session = await this.#services.sessions.getSession(key);
    if (!session) throw sessionNotFound(key);
    for (const event of shownEvents(session, key.runId)) log.append(event);
  }

  #newLog(key: RunKey): RunEventLog {
    const { sessions } = this.#services;
    return new RunEventLog((after, anchor) => storedEvents(sessions, key, after, anchor), this.logMemory);
  }
}
