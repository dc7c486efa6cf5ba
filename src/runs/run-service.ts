import { randomUUID } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { abortable, completesWithin, LinkedAbort } from '../base/abort.ts';
import { ByteBudget } from '../base/byte-budget.ts';
import { AppError } from '../base/errors.ts';
import { roughSize } from '../base/rough-size.ts';
import { startTimer } from '../base/timers.ts';
import { deriveRun, deriveRuns, failureOf } from '../core/run-status.ts';
import type { RunStore } from '../core/run-store.ts';
import type { Position, RunFilter, RunKey, Runs, StreamedEvent, SubmitOptions, Submitted } from '../core/runs.ts';
import type { RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import { rollBackRun } from '../runner/fork-and-rewind.ts';
import { type RunQueue, sessionNotFound, type Submission } from '../runner/queue/run-queue.ts';
import { storedEvents } from '../runner/queue/stored-events.ts';
import { checkMessage } from '../runner/user-message.ts';
import { isOver, type Run } from '../schemas/run-record.ts';
import type { RunRequest } from '../schemas/run.ts';
import type { GetSessionConfig, Session, SessionKey } from '../schemas/session.ts';
import { BackgroundRuns, type KeyedRequest } from './background-runs.ts';
import { BackgroundWorker, type Pending } from './background-worker.ts';
import type { LeasedRunQueue } from './cluster/leased-queue.ts';
import { SharedRuns } from './cluster/shared-runs.ts';
import { type LostRunStarter, RunTakeover } from './cluster/takeover.ts';
import { earlierRun, isDuplicate, persistedRun } from './idempotency.ts';
import { LocalRuns } from './local-runs.ts';
import { keyedRequest, recordOf } from './run-records.ts';
import { SessionDeletion } from './session-deletion.ts';

/** Runs agents: see `Runner`. Errors of the client are thrown before the first event. */
interface BackgroundRunner extends LostRunStarter {
  enqueue(request: RunRequest, signal: AbortSignal, submission?: Submission): Promise<Pending>;
}

export interface RunServiceOptions {
  readonly runner: BackgroundRunner;
  /** The same that the runner uses. */
  readonly queue: RunQueue;
  readonly services: Services;
  /** The run store and its queue, which is then `queue`. Absent: runs end with this process. */
  readonly durable?: { readonly store: RunStore; readonly queue: LeasedRunQueue } | undefined;
  readonly log?: RunLog;
  /** How long the record of an ended run is kept. Later, it is derived from the run's events. */
  readonly runTtlMs?: number | undefined;
  /** Background runs that run at the same time; the others wait. Default: one for each 8 MB of heap. */
  readonly maxBackgroundRuns?: number | undefined;
}

const { heap_size_limit: heapBytes } = getHeapStatistics();
/** Approximate memory of a run, besides its request: while it waits, and while it runs with large responses. */
const ownBytes = 8 * 1024;
const runningBytes = 8 * 1024 * 1024;

const lastEventsMs = 2_000; // how long aborted runs may take to end

/**
 * Starts, finds, cancels and streams runs. Active and waiting runs of this process come from the queue, runs of other replicas
 * from the run store, and finished ones are derived from the events of their session.
 */
export class RunService implements Runs {
  readonly #options: RunServiceOptions;
  readonly #background: BackgroundRuns;
  readonly #local: LocalRuns;
  readonly #worker: BackgroundWorker;
  /** Bounds the requests of runs that are not over. */
  readonly #pendingBytes = new ByteBudget(heapBytes / 16, ['queue_full', 'Too many runs are waiting']);
  readonly #sharedRuns: SharedRuns | undefined;
  readonly #takeover: RunTakeover | undefined;
  readonly #deletion: SessionDeletion;

  constructor(options: RunServiceOptions) {
    this.#options = options;
    const { runner, queue, durable, services, log, runTtlMs } = options;
    const maxRuns = options.maxBackgroundRuns ?? Math.ceil(heapBytes / runningBytes);
    this.#background = new BackgroundRuns(runTtlMs);
    this.#local = new LocalRuns(queue, this.#background, services);
    this.#worker = new BackgroundWorker(this.#background, maxRuns, log);
    this.#deletion = new SessionDeletion({ queue, services, background: this.#background });
    if (!durable) return;
    this.#sharedRuns = new SharedRuns({ ...durable, sessions: services.sessions, local: this.#local });
    this.#takeover = new RunTakeover({
      ...durable,
      runner,
      services,
      background: this.#background,
      local: this.#local,
      worker: this.#worker,
      log,
    });
  }

  /** Begins to send heartbeats, and to take over runs that lost their replica. */
  start(): void {
    this.#options.durable?.queue.start();
    this.#takeover?.start();
  }

  async submit(request: RunRequest, { idempotencyKey, admit }: SubmitOptions = {}): Promise<Submitted> {
    await this.#deletion.finished(request);
    const keyed = idempotencyKey === undefined ? undefined : keyedRequest(request, idempotencyKey);
    let earlier = keyed && (await this.#earlierRun(request, keyed));
    // Its twin may have begun meanwhile. Between this look and `add` below nothing waits.
    if (keyed)
      while (!earlier && this.#background.findByIdempotencyKey(keyed.key))
        earlier = await this.#earlierRun(request, keyed);
    if (earlier) return { run: earlier, replayed: true };
    checkMessage(request);
    const { appName, userId, sessionId, invocationId = `e-${randomUUID()}` } = request;
    const key = { appName, userId, sessionId, runId: invocationId };
    if (this.#background.find(key)?.hasEnded === false) {
      throw new AppError('session_busy', `Run "${invocationId}" has not ended yet`, { retryAfter: 1 });
    }
    const ticket = admit?.();
    const run = this.#local.addBackground(key, keyed);
    if (ticket) void run.ended.then(() => ticket.ended());
    const isNew = request.invocationId === undefined;
    const submission = { isNew, idempotencyKey: keyed?.idempotencyKey, fingerprint: keyed?.fingerprint };
    const bytes = ownBytes + roughSize(request);
    try {
      await this.#pendingBytes.acquire(bytes, run.signal);
      void run.ended.then(() => this.#pendingBytes.release(bytes));
      if (!isNew) await this.#local.replayStored(run);
      const pending = await this.#options.runner.enqueue({ ...request, invocationId }, run.signal, submission);
      await this.#worker.begin(run, pending, ticket);
    } catch (error) {
      this.#background.remove(run);
      run.end(error);
      ticket?.ended();
      const same = isDuplicate(error) && keyed && (await this.#earlierRun(request, keyed)); // it may have come to nothing
      if (isDuplicate(error))
        return same ? { run: same, replayed: true } : this.submit(request, { idempotencyKey, admit });
      const kept = await persistedRun(error, run, this.#sharedRuns);
      if (kept) return { run: kept, replayed: false };
      throw error;
    }
    return { run: await this.get(run.key), replayed: false };
  }

  async get(key: RunKey): Promise<Run> {
    await this.#deletion.finished(key);
    const background = this.#background.find(key);
    const local = this.#local.find(key);
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
    const here = this.#local.find(key);
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
    const here = this.#local.logOf(key);
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
    // Connected clients may read for as long; until then, this replica has to count as alive.
    await completesWithin(
      Promise.all(this.#options.durable.queue.all().map((lease) => lease.ended)),
      graceMs + lastEventsMs,
    );
    await this.#sharedRuns?.close();
  }

  /** Waits for the end of an aborted run, before the queued runs start, and rolls back its events. */
  async #rollBack(key: RunKey, signal: AbortSignal): Promise<void> {
    const { queue, services } = this.#options;
    const slot = await queue.acquireExclusive({ session: key, onBusy: 'rollback', rollbackOf: key.runId }, signal);
    try {
      await rollBackRun({ ...services, sessions: slot.sessions ?? services.sessions }, key, key.runId);
    } finally {
      await slot.release();
    }
  }

  async #waitForEnd(key: RunKey, signal: AbortSignal): Promise<void> {
    const here = this.#local.find(key);
    if (here) await abortable(here.ended, signal);
    const background = this.#background.find(key);
    if (background) await abortable(background.ended, signal);
    if (!here) await this.#sharedRuns?.waitForEnd(key, signal);
  }

  #earlierRun(session: SessionKey, keyed: KeyedRequest): Promise<Run | undefined> {
    const get = (key: RunKey): Promise<Run> => this.get(key);
    return earlierRun(session, keyed, { background: this.#background, sharedRuns: this.#sharedRuns, get });
  }

  async *#readEnded(run: Run, key: RunKey, { events }: Position): AsyncGenerator<StreamedEvent, void, void> {
    yield* storedEvents(this.#options.services.sessions, key, events);
    const failure = failureOf(run);
    if (failure) throw failure;
  }

  async #sessionOf(key: SessionKey, config?: GetSessionConfig): Promise<Session> {
    const session = await this.#options.services.sessions.getSession(key, config);
    if (!session) throw sessionNotFound(key);
    return session;
  }
}

const beyondEnd = ({ runId }: RunKey, { events }: Position): AppError =>
  new AppError('invalid_request', `Last-Event-ID: run "${runId}" ended before event ${events}`);
