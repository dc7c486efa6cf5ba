import { createHash } from 'node:crypto';
import { abortable, LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Frame, Position, RunFilter, RunKey, Runs, SubmitOptions, Submitted } from '../core/runs.ts';
import type { RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import type { Event } from '../schemas/event.ts';
import { isOver, type Run } from '../schemas/run-record.ts';
import type { RunRequest } from '../schemas/run.ts';
import type { Session, SessionKey } from '../schemas/session.ts';
import { type Asked, BackgroundRun, BackgroundRuns } from './background-runs.ts';
import { takeBack } from './branching.ts';
import { RunFeed } from './run-feed.ts';
import { failureOf, outcomeOfFailure, runIn, runsIn, shownEvents } from './run-status.ts';
import type { Seat, SessionQueue } from './session-queue.ts';
import { checkMessage } from './user-message.ts';

/** What starts runs; throws before the first event whatever is the caller's fault. */
interface Starter {
  start(request: RunRequest, signal: AbortSignal, onQueued?: () => void): Promise<AsyncIterable<Event>>;
}

export interface RunDeskOptions {
  readonly runner: Starter;
  /** The same that the runner uses. */
  readonly queue: SessionQueue;
  readonly services: Services;
  readonly log?: RunLog;
}

/** How long runs that were told to end may take. */
const lastEventsMs = 2_000;

/**
 * The runs of this process: those in line or at work are found in the queue, what they did in their session's events.
 * Nothing is kept for a run but for those that were started here.
 */
export class RunDesk implements Runs {
  readonly #options: RunDeskOptions;
  readonly #background = new BackgroundRuns();

  constructor(options: RunDeskOptions) {
    this.#options = options;
  }

  async submit(request: RunRequest, { idempotencyKey }: SubmitOptions = {}): Promise<Submitted> {
    const asked = idempotencyKey === undefined ? undefined : askedFor(request, idempotencyKey);
    const earlier = asked && this.#background.asked(asked.key);
    if (earlier) {
      if (earlier.asked?.fingerprint !== asked.fingerprint) {
        throw new AppError('idempotency_mismatch', 'This Idempotency-Key was sent before, with another request');
      }
      await earlier.accepted;
      return { run: await this.get(earlier.key), replayed: true };
    }
    checkMessage(request);
    const { appName, userId, sessionId, invocationId = newId('e-') } = request;
    const run = new BackgroundRun({ appName, userId, sessionId, runId: invocationId }, asked);
    if (this.#background.find(run.key)?.isOver === false) {
      throw new AppError('session_busy', `Run "${invocationId}" is not over yet`, { retryAfter: 1 });
    }
    this.#background.add(run);
    try {
      if (request.invocationId !== undefined) await this.#recall(run);
      await this.#begin({ ...request, invocationId }, run);
    } catch (error) {
      this.#background.remove(run);
      run.end(error);
      throw error;
    }
    return { run: await this.get(run.key), replayed: false };
  }

  async get(key: RunKey): Promise<Run> {
    const background = this.#background.find(key);
    const seat = this.#seat(key);
    if (seat) return recordOf(key, seat);
    if (background && !background.isOver) return recordOf(key, background);
    const run = runIn(await this.#sessionOf(key), key.runId);
    if (run) return background ? { ...run, createdAt: background.createdAtMs / 1000 } : run;
    if (background) return recordOf(key, background);
    throw new AppError('run_not_found', `Run "${key.runId}" not found`);
  }

  async list(key: SessionKey, { status, limit = 50 }: RunFilter = {}): Promise<Run[]> {
    const runs = new Map(runsIn(await this.#sessionOf(key)).map((run) => [run.id, run]));
    for (const background of this.#background.of(key)) {
      const { runId } = background.key;
      const run = runs.get(runId);
      if (!run || !background.isOver) runs.set(runId, recordOf(background.key, background));
    }
    for (const seat of this.#options.queue.of(key)) {
      if (seat.id !== '') runs.set(seat.id, recordOf({ ...key, runId: seat.id }, seat));
    }
    return [...runs.values()]
      .filter((run) => status === undefined || run.status === status)
      .toSorted((one, other) => other.createdAt - one.createdAt)
      .slice(0, limit);
  }

  async cancel(key: RunKey, { rollback }: { rollback: boolean }, signal: AbortSignal): Promise<Run> {
    const seat = this.#seat(key);
    const isRunning = seat?.startedAtMs !== undefined;
    const reason = new AppError('run_cancelled', 'The run was cancelled');
    this.#background.find(key)?.cancel(reason);
    seat?.abort(reason);
    if (rollback && isRunning) await this.#takeBack(key, signal);
    await this.#over(key, signal);
    return this.get(key);
  }

  async wait(key: RunKey, timeoutMs: number, signal: AbortSignal): Promise<Run> {
    const run = await this.get(key);
    if (isOver(run.status)) return run;
    const patience = new LinkedAbort(signal);
    const timer = setTimeout(() => patience.abort(), timeoutMs);
    try {
      await this.#over(key, patience.signal);
    } catch {
      signal.throwIfAborted(); // else the time was over
    } finally {
      clearTimeout(timer);
      patience[Symbol.dispose]();
    }
    return this.get(key);
  }

  async follow(key: RunKey, after: Position, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
    const background = this.#background.find(key);
    if (background && !background.isOver) return background.feed.read(after, signal);
    const seat = this.#seat(key);
    if (seat) {
      seat.feed ??= new RunFeed(seat.session ? shownEvents(seat.session, seat.id) : []);
      return seat.feed.read(after, signal);
    }
    const session = await this.#sessionOf(key);
    if (background) return background.feed.read(after, signal);
    const run = runIn(session, key.runId);
    if (!run) throw new AppError('run_not_found', `Run "${key.runId}" not found`);
    const feed = new RunFeed(shownEvents(session, key.runId));
    feed.end(failureOf(run));
    return feed.read(after, signal);
  }

  async drain(graceMs: number): Promise<void> {
    const over = Promise.all(this.#background.all().map((run) => run.over));
    if (await settles(over, graceMs)) return;
    for (const run of this.#background.all()) {
      run.cancel(new AppError('run_interrupted', 'The server is shutting down'));
    }
    await settles(over, lastEventsMs);
  }

  /** Resolves once the run has begun, or waits in line; goes on with it. */
  async #begin(request: RunRequest, run: BackgroundRun): Promise<void> {
    const queued = Promise.withResolvers<void>();
    const started = this.#options.runner.start(request, run.signal, queued.resolve);
    void this.#work(started, run); // tells the run how it ended, and never rejects
    try {
      await Promise.race([started, queued.promise]);
      run.accept();
    } catch (error) {
      run.accept(error);
      throw error;
    }
  }

  async #work(started: Promise<AsyncIterable<Event>>, run: BackgroundRun): Promise<void> {
    let failure: unknown;
    try {
      const events = await started;
      run.startedAtMs = Date.now();
      for await (const event of events) run.feed.put(event);
    } catch (error) {
      failure = error;
      if (!(error instanceof AppError)) this.#options.log?.warn({ err: error, runId: run.key.runId }, 'run failed');
    }
    run.end(failure);
    this.#background.ended(run);
  }

  /** A run that goes on has a past, which its stream begins with. */
  async #recall({ key, feed }: BackgroundRun): Promise<void> {
    for (const event of shownEvents(await this.#sessionOf(key), key.runId)) feed.put(event);
  }

  /** Waits for a run that was told to end, in front of those that wait for it, and hides what it stored. */
  async #takeBack(key: RunKey, signal: AbortSignal): Promise<void> {
    const turn = await this.#options.queue.enter(key, 'rollback', signal);
    try {
      await takeBack(this.#options.services, key, key.runId);
    } finally {
      turn.release();
    }
  }

  async #over(key: RunKey, signal: AbortSignal): Promise<void> {
    const seat = this.#seat(key);
    if (seat) await abortable(seat.over, signal);
    const background = this.#background.find(key);
    if (background) await abortable(background.over, signal);
  }

  #seat(key: RunKey): Seat | undefined {
    return this.#options.queue.of(key).find(({ id }) => id === key.runId);
  }

  async #sessionOf(key: SessionKey): Promise<Session> {
    const session = await this.#options.services.sessions.getSession(key);
    if (!session) throw new AppError('session_not_found', `Session "${key.sessionId}" not found`);
    return session;
  }
}

/** A run that is not told of by events, or not yet. */
function recordOf({ runId: id, appName, userId, sessionId }: RunKey, run: Seat | BackgroundRun): Run {
  const { createdAtMs, startedAtMs } = run;
  const { endedAtMs, failure }: Partial<BackgroundRun> = run instanceof BackgroundRun ? run : {};
  const outcome = failure === undefined ? { status: 'done' as const } : outcomeOfFailure(failure);
  return {
    id,
    appName,
    userId,
    sessionId,
    status: startedAtMs === undefined ? 'queued' : 'running',
    ...(endedAtMs !== undefined && outcome),
    createdAt: createdAtMs / 1000,
    ...(startedAtMs !== undefined && { startedAt: startedAtMs / 1000 }),
    ...(endedAtMs !== undefined && { endedAt: endedAtMs / 1000 }),
  };
}

function askedFor(request: RunRequest, idempotencyKey: string): Asked {
  const { appName, userId, sessionId } = request;
  return {
    key: [appName, userId, sessionId, idempotencyKey].join('\n'),
    fingerprint: createHash('sha256').update(JSON.stringify(request)).digest('base64'),
  };
}

/** Whether it settles in time. */
async function settles(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limitMs);
  try {
    await abortable(work, late.signal);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
