import { randomUUID } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { abortable, completesWithin, LinkedAbort } from '../base/abort.ts';
import { ByteBudget } from '../base/byte-budget.ts';
import { AppError, loggedError } from '../base/errors.ts';
import { roughSize } from '../base/rough-size.ts';
import { Semaphore } from '../base/semaphore.ts';
import { startTimer } from '../base/timers.ts';
import { failureOf, deriveRun, deriveRuns, shownEvents } from '../core/run-status.ts';
import type { RunStore } from '../core/run-store.ts';
import type { StreamedEvent, Position, RunFilter, RunKey, Runs, SubmitOptions, Submitted } from '../core/runs.ts';
import type { RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import { rollBackRun } from '../runner/fork-and-rewind.ts';
import { EventLogMemory } from '../runner/queue/event-log-memory.ts';
import { RunEventLog } from '../runner/queue/event-log.ts';
import {
  type ExistingLease,
  type QueuedRun,
  type RunQueue,
  sessionNotFound,
  type StartOptions,
} from '../runner/queue/run-queue.ts';
import { storedEvents } from '../runner/queue/stored-events.ts';
import { checkMessage } from '../runner/user-message.ts';
import type { Event } from '../schemas/event.ts';
import { isOver, type Run } from '../schemas/run-record.ts';
import type { RunRequest } from '../schemas/run.ts';
import type { GetSessionConfig, Session, SessionKey } from '../schemas/session.ts';
import { type KeyedRequest, BackgroundRun, BackgroundRuns } from './background-runs.ts';
import { type LeasedRunQueue } from './cluster/leased-queue.ts';
import { SharedRuns } from './cluster/shared-runs.ts';
import { RunTakeover } from './cluster/takeover.ts';
import { earlierRun, isDuplicate, persistedRun } from './idempotency.ts';
import { keyedRequest, recordOf } from './run-records.ts';
import { SessionDeletion } from './session-deletion.ts';

/** What starts runs; throws before the first event whatever is the caller's fault. */
interface Starter {
  start(request: RunRequest, signal: AbortSignal, options?: StartOptions): Promise<AsyncIterable<Event>>;
}

export interface RunServiceOptions {
  readonly runner: Starter;
  /** The same that the runner uses. */
  readonly queue: RunQueue;
  readonly services: Services;
  /** Where runs are kept beyond this process: then `line` is its line. */
  readonly durable?: { readonly store: RunStore; readonly queue: LeasedRunQueue } | undefined;
  readonly log?: RunLog;
  /** How long a run that ended here is known for more than its events tell. */
  readonly runTtlMs?: number | undefined;
  /** Runs in the background that may be at work at the same time; the others wait. Default: one for each 8 MB of heap. */
  readonly maxBackgroundRuns?: number | undefined;
}

const { heap_size_limit: heapBytes } = getHeapStatistics();
/** What a run takes besides what was asked for, roughly: while it waits, and with large answers while it is at work. */
const ownBytes = 8 * 1024;
const bytesAtWork = 8 * 1024 * 1024;

const lastEventsMs = 2_000; // how long runs that were told to end may take

/**
 * The runs of this process: those in line or at work are found in the line, what they did in their session's events.
 * Nothing is kept for a run but for those that were started here. With a store, the runs of other replicas are found
 * there, and those that lost their replica go on here.
 */
export class RunService implements Runs {
  readonly #options: RunServiceOptions;
  readonly #background: BackgroundRuns;
  readonly #logMemory = new EventLogMemory();
  /** What was asked for and is not over, and who may be at work. */
  readonly #pendingBytes = new ByteBudget(heapBytes / 16, ['queue_full', 'Too many runs are waiting']);
  readonly #workers: Semaphore;
  readonly #sharedRuns: SharedRuns | undefined;
  readonly #takeover: RunTakeover | undefined;
  readonly #deletion: SessionDeletion;

  constructor(options: RunServiceOptions) {
    this.#options = options;
    const { durable, services, log, runTtlMs } = options;
    this.#background = new BackgroundRuns(runTtlMs);
    this.#workers = new Semaphore(options.maxBackgroundRuns ?? Math.ceil(heapBytes / bytesAtWork));
    this.#deletion = new SessionDeletion({
      queue: options.queue,
      services,
      onVacated: (key) => this.#background.forget(key, sessionNotFound(key)),
    });
    if (!durable) return;
    const kept = { ...durable, sessions: services.sessions, logMemory: this.#logMemory };
    this.#sharedRuns = new SharedRuns(kept, (id, after, signal) => this.#followHere(id, after, signal));
    const resume = (request: RunRequest, claim: ExistingLease): Promise<void> => this.#resume(request, claim);
    const undo = (key: RunKey, claim: ExistingLease): Promise<void> =>
      this.#rollBack(key, new AbortController().signal, claim);
    this.#takeover = new RunTakeover({ ...kept, resume, rollBack: undo, log });
  }

  /** Begins to tell others that this replica lives, and to look for runs that lost theirs. */
  start(): void {
    this.#options.durable?.queue.start();
    this.#takeover?.start();
  }

  async submit(request: RunRequest, { idempotencyKey }: SubmitOptions = {}): Promise<Submitted> {
    await this.#deletion.finished(request);
    const asked = idempotencyKey === undefined ? undefined : keyedRequest(request, idempotencyKey);
    let earlier = asked && (await this.#earlierRun(request, asked));
    // Its twin may have begun meanwhile. Between this look and `add` below nothing waits.
    if (asked)
      while (!earlier && this.#background.findByIdempotencyKey(asked.key))
        earlier = await this.#earlierRun(request, asked);
    if (earlier) return { run: earlier, replayed: true };
    checkMessage(request);
    const { appName, userId, sessionId, invocationId = `e-${randomUUID()}` } = request;
    const run = this.#newRun({ appName, userId, sessionId, runId: invocationId }, asked);
    if (this.#background.find(run.key)?.hasEnded === false) {
      throw new AppError('session_busy', `Run "${invocationId}" is not over yet`, { retryAfter: 1 });
    }
    this.#background.add(run);
    const isNew = request.invocationId === undefined;
    const bytes = ownBytes + roughSize(request);
    try {
      await this.#pendingBytes.acquire(bytes, run.signal);
      void run.ended.then(() => this.#pendingBytes.release(bytes));
      if (!isNew) await this.#replayStored(run);
      await this.#begin({ ...request, invocationId }, run, { isNew });
    } catch (error) {
      this.#background.remove(run);
      run.end(error);
      const same = isDuplicate(error) && asked && (await this.#earlierRun(request, asked)); // it may have come to nothing
      if (isDuplicate(error)) return same ? { run: same, replayed: true } : this.submit(request, { idempotencyKey });
      const kept = await persistedRun(error, run, this.#sharedRuns);
      if (kept) return { run: kept, replayed: false };
      throw error;
    }
    return { run: await this.get(run.key), replayed: false };
  }

  async get(key: RunKey): Promise<Run> {
    await this.#deletion.finished(key);
    const background = this.#background.find(key);
    const local = this.#localRun(key);
    if (local) return recordOf(key, local);
    if (background && !background.hasEnded) return recordOf(key, background);
    const kept = await this.#sharedRuns?.find(key);
    if (kept?.error?.code === 'session_not_found') throw sessionNotFound(key); // another server deletes it
    if (kept) return kept;
    const run = deriveRun(await this.#sessionOf(key), key.runId);
    if (run) return background ? { ...run, createdAt: background.createdAtMs / 1000 } : run;
    if (background) return recordOf(key, background);
    throw new AppError('run_not_found', `Run not found: ${key.runId}`);
  }

  async list(key: SessionKey, { status, limit = 50 }: RunFilter = {}): Promise<Run[]> {
    await this.#deletion.finished(key);
    const runs = new Map(deriveRuns(await this.#sessionOf(key)).map((run) => [run.id, run]));
    for (const run of (await this.#sharedRuns?.list(key, limit)) ?? []) {
      const derived = runs.get(run.id);
      runs.set(run.id, run.status === 'waiting' && derived ? { ...derived, createdAt: run.createdAt } : run);
    }
    for (const background of this.#background.runsOf(key)) {
      const { key: known, hasEnded } = background;
      if (!runs.has(known.runId) || !hasEnded) runs.set(known.runId, recordOf(known, background));
    }
    for (const local of this.#options.queue.runsOf(key)) {
      if (local.id !== '') runs.set(local.id, recordOf({ ...key, runId: local.id }, local));
    }
    return [...runs.values()]
      .toReversed() // those of one millisecond, too
      .filter((run) => status === undefined || run.status === status)
      .toSorted((one, other) => other.createdAt - one.createdAt)
      .slice(0, limit);
  }

  async cancel(key: RunKey, { rollback }: { rollback: boolean }, signal: AbortSignal): Promise<Run> {
    const isRunning = (await this.get(key)).status === 'running';
    const reason = new AppError('run_cancelled', 'The run was cancelled');
    const here = this.#localRun(key);
    this.#background.find(key)?.cancel(reason);
    here?.abort(reason);
    if (!here) await this.#sharedRuns?.cancel(key, reason.code);
    if (rollback && isRunning) await this.#rollBack(key, signal);
    await this.#waitForEnd(key, signal);
    const run = await this.get(key);
    if (isOver(run.status) || !here || !this.#sharedRuns) return run;
    return this.cancel(key, { rollback: false }, signal); // another replica has taken it over meanwhile
  }

  async wait(key: RunKey, timeoutMs: number, signal: AbortSignal): Promise<Run> {
    const run = await this.get(key);
    if (isOver(run.status)) return run;
    const patience = new LinkedAbort(signal);
    const timer = startTimer(() => patience.abort(), timeoutMs);
    try {
      await this.#waitForEnd(key, patience.signal);
    } catch {
      signal.throwIfAborted(); // else the time was over
    } finally {
      clearTimeout(timer);
      patience[Symbol.dispose]();
    }
    return this.get(key);
  }

  async follow(key: RunKey, after: Position, signal: AbortSignal): Promise<AsyncIterable<StreamedEvent>> {
    await this.#deletion.finished(key);
    const here = this.#localLog(key);
    if (here) return here.read(after, signal);
    const kept = await this.#sharedRuns?.find(key);
    if (kept && !isOver(kept.status)) return (this.#sharedRuns as SharedRuns).follow(key, after, signal);
    const session = await this.#sessionOf(key, kept ? { numRecentEvents: 1 } : {});
    const background = this.#background.find(key);
    if (background) {
      if (after.events > background.log.position.events) throw beyondEnd(key, after);
      return background.log.read(after, signal);
    }
    const run = kept ?? deriveRun(session, key.runId);
    if (!run) throw new AppError('run_not_found', `Run not found: ${key.runId}`);
    if (after.events > 0) {
      const rest = storedEvents(this.#options.services.sessions, key, after.events - 1);
      if ((await rest[Symbol.asyncIterator]().next()).done) throw beyondEnd(key, after);
    }
    return this.#readEnded(run, key, after);
  }

  deleteSession(key: SessionKey): Promise<void> {
    return this.#deletion.delete(key);
  }

  /** Deletes the session unless it has a run, or was written to since a time in seconds. Resolves with whether it did. */
  deleteIdleSession(key: SessionKey, sinceTime: number): Promise<boolean> {
    return this.#deletion.deleteIdle(key, sinceTime);
  }

  async drain(graceMs: number): Promise<void> {
    this.#takeover?.close();
    const over = Promise.all(this.#background.all().map((run) => run.ended));
    if (!(await completesWithin(over, graceMs))) {
      if (this.#options.durable) await completesWithin(this.#options.durable.queue.releaseDetached(), lastEventsMs);
      const reason = new AppError('run_interrupted', 'The server is shutting down');
      for (const run of this.#background.all()) run.cancel(reason);
      await completesWithin(over, lastEventsMs);
    }
    if (!this.#options.durable) return;
    // Whoever is still connected has as long: until then this replica has to count as alive.
    await completesWithin(
      Promise.all(this.#options.durable.queue.all().map((lease) => lease.ended)),
      graceMs + lastEventsMs,
    );
    await this.#sharedRuns?.close();
  }

  /** Resolves once the run has begun, or waits in line; goes on with it. */
  async #begin(request: RunRequest, run: BackgroundRun, options: StartOptions): Promise<void> {
    const queued = Promise.withResolvers<void>();
    let isAtWork = false;
    const started = this.#options.runner.start(request, run.signal, {
      ...options,
      onQueued: () => queued.resolve(),
      onPersisted: () => (run.persisted = recordOf(run.key, run)),
      begins: async (signal) => {
        await this.#workers.acquire(signal);
        isAtWork = true;
      },
      isDetached: true,
      idempotencyKey: run.keyed?.idempotencyKey,
      fingerprint: run.keyed?.fingerprint,
    });
    // Tells the run how it ended, and never rejects.
    void this.#work(started, run).then(() => isAtWork && this.#workers.release());
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
      for await (const event of events) run.log.append(event);
    } catch (error) {
      failure = error;
      const isForeseen = error instanceof AppError && error.errorId === undefined;
      if (!isForeseen) this.#options.log?.warn({ ...loggedError(error), runId: run.key.runId }, 'run failed');
    }
    run.end(failure);
    if (failure instanceof AppError && failure.code === 'session_not_found') this.#background.discard(run);
    else this.#background.retain(run);
  }

  /** A run that goes on has a past, which its stream begins with. */
  async #replayStored({ key, log }: BackgroundRun): Promise<void> {
    for (const event of shownEvents(await this.#sessionOf(key), key.runId)) log.append(event);
  }

  /** Waits for a run that was told to end, in front of those that wait for it, and hides what it stored. */
  async #rollBack(key: RunKey, signal: AbortSignal, claim?: ExistingLease): Promise<void> {
    const { queue, services } = this.#options;
    const slot = await queue.acquire(key, 'rollback', signal, { claim, rollbackOf: key.runId });
    try {
      await rollBackRun({ ...services, sessions: slot.sessions ?? services.sessions }, key, key.runId);
    } finally {
      await slot.release();
    }
  }

  async #waitForEnd(key: RunKey, signal: AbortSignal): Promise<void> {
    const here = this.#localRun(key);
    if (here) await abortable(here.ended, signal);
    const background = this.#background.find(key);
    if (background) await abortable(background.ended, signal);
    if (!here) await this.#sharedRuns?.waitForEnd(key, signal);
  }

  /** Goes on with a run that lost its replica, to its end. */
  async #resume(request: RunRequest, claim: ExistingLease): Promise<void> {
    const { appName, userId, sessionId, invocationId = '' } = request;
    const run = this.#newRun({ appName, userId, sessionId, runId: invocationId });
    this.#background.add(run);
    try {
      await this.#replayStored(run);
      await this.#begin(request, run, { claim });
      await run.ended;
    } catch (error) {
      this.#background.remove(run);
      run.end(error);
      this.#options.log?.warn({ err: error, runId: invocationId }, 'a run could not go on');
    }
  }

  #earlierRun(session: SessionKey, asked: KeyedRequest): Promise<Run | undefined> {
    const get = (key: RunKey): Promise<Run> => this.get(key);
    return earlierRun(session, asked, { background: this.#background, sharedRuns: this.#sharedRuns, get });
  }

  async *#readEnded(run: Run, key: RunKey, { events }: Position): AsyncGenerator<StreamedEvent, void, void> {
    yield* storedEvents(this.#options.services.sessions, key, events);
    const failure = failureOf(run);
    if (failure) throw failure;
  }

  #newRun(key: RunKey, asked?: KeyedRequest): BackgroundRun {
    return new BackgroundRun(key, this.#newLog(key), asked);
  }

  #newLog(key: RunKey): RunEventLog {
    const { sessions } = this.#options.services;
    return new RunEventLog((after, landmark) => storedEvents(sessions, key, after, landmark), this.#logMemory);
  }

  #localLog(key: RunKey): RunEventLog | undefined {
    const background = this.#background.find(key);
    if (background && !background.hasEnded) return background.log;
    const run = this.#localRun(key);
    if (!run || run.log) return run?.log;
    run.log = this.#newLog(key);
    for (const event of run.session ? shownEvents(run.session, run.id) : []) run.log.append(event);
    return run.log;
  }

  /** The same for a run of this replica, by its key in the store. */
  async #followHere(id: string, after: Position, signal: AbortSignal): Promise<AsyncIterable<StreamedEvent>> {
    const slot = this.#options.durable?.queue.find({ id });
    const log = slot && this.#localLog({ ...slot.key, runId: slot.id });
    if (log) return log.read(after, signal);
    throw new AppError('run_not_found', `Run "${id}" is not here`);
  }

  #localRun(key: RunKey): QueuedRun | undefined {
    return this.#options.queue.runsOf(key).find(({ id }) => id === key.runId);
  }

  async #sessionOf(key: SessionKey, config?: GetSessionConfig): Promise<Session> {
    const session = await this.#options.services.sessions.getSession(key, config);
    if (!session) throw sessionNotFound(key);
    return session;
  }
}

const beyondEnd = ({ runId }: RunKey, { events }: Position): AppError =>
  new AppError('invalid_request', `Last-Event-ID: run "${runId}" ended before event ${events}`);
