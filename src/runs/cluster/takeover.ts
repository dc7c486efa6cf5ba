import { AppError } from '../../base/errors.ts';
import { failureOf, outcomeOfFailure, deriveRun } from '../../core/run-status.ts';
import { type TakenOverRun, takeOverBatch, type RunStore } from '../../core/run-store.ts';
import type { RunLog } from '../../core/runtime.ts';
import type { Services, SessionService } from '../../core/services.ts';
import { failureEvent } from '../../runner/failure-event.ts';
import { rollBackRun } from '../../runner/fork-and-rewind.ts';
import type { TakeoverQueue } from '../../runner/queue/run-queue.ts';
import { RunRequest } from '../../schemas/run.ts';
import type { Session } from '../../schemas/session.ts';
import type { BackgroundRuns } from '../background-runs.ts';
import type { BackgroundWorker, Pending } from '../background-worker.ts';
import type { LocalRuns } from '../local-runs.ts';
import { cancelReason, type LeasedRunQueue } from './leased-queue.ts';

/** Queues the run of a lost server: see `Runner.enqueueLost`. */
export interface LostRunStarter {
  enqueueLost(request: RunRequest, lost: TakenOverRun, queue: TakeoverQueue, signal: AbortSignal): Promise<Pending>;
}

export interface TakeoverOptions {
  readonly store: RunStore;
  readonly queue: LeasedRunQueue;
  readonly runner: LostRunStarter;
  readonly services: Services;
  readonly background: BackgroundRuns;
  readonly local: LocalRuns;
  readonly worker: BackgroundWorker;
  readonly log?: RunLog | undefined;
}

const pollMs = 500;
/** Against poison runs: a run that lost its owner so often more than it stored events may be what kills them. */
const maxTakeoversWithoutProgress = 10;

/**
 * Takes over runs whose owner died, and decides for each whether it is resumed or ended. Which server counts as dead is
 * decided by the database: `lostRunsStatement` in `services/runs/postgres-statements.ts`, `takeOver` in
 * `services/runs/sqlite.ts`, both with `leaseMs` of `core/run-store.ts`.
 */
export class RunTakeover {
  readonly #options: TakeoverOptions;
  /** Runs that are resumed, which the queue may not know yet. */
  readonly #resumed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TakeoverOptions) {
    this.#options = options;
  }

  start(): void {
    const poll = async (): Promise<void> => {
      await this.takeOverLostRuns();
      if (!this.#isClosed) this.#timer = setTimeout(() => void poll(), pollMs).unref();
    };
    this.#timer = setTimeout(() => void poll(), 0); // never rejects
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Polls once. Never rejects. */
  async takeOverLostRuns(): Promise<void> {
    const { store, queue, log } = this.#options;
    if (!queue.isConnected) return;
    try {
      const known = (): string[] => [...queue.runIds, ...this.#resumed];
      let adopted: TakenOverRun[];
      do {
        adopted = await store.takeOver(known, queue.isStable);
        await Promise.all(adopted.map((run) => this.#takeOver(run)));
      } while (adopted.length >= takeOverBatch && !this.#isClosed);
    } catch (error) {
      log?.warn({ err: error }, 'runs of other servers could not be taken over');
    }
  }

  async #takeOver(run: TakenOverRun): Promise<void> {
    const { log } = this.#options;
    log?.warn({ runId: run.key.runId, takeovers: run.takeovers }, 'a run lost its server');
    try {
      await this.#decide(run);
    } catch (error) {
      log?.warn({ err: error, runId: run.key.runId }, 'a run could not be taken over');
    }
  }

  async #decide(run: TakenOverRun): Promise<void> {
    const { store } = this.#options;
    if (run.kind === 'exclusive') {
      if (run.rollbackOf === undefined) await store.finish(run.ref, run.fencingToken, undefined);
      else this.#remember(run, this.#rollBack(run, run.rollbackOf));
      return;
    }
    const end = reasonNotToResume(run);
    if (!end) await this.#resume(run);
    else if (run.fencingToken === undefined) await store.finish(run.ref, undefined, outcomeOfFailure(end));
    else await this.#endRun(run, end);
  }

  async #resume(run: TakenOverRun): Promise<void> {
    const { sessions } = this.#options.services;
    const request = RunRequest.safeParse(JSON.parse(run.input));
    const session = await sessions.getSession(run.key);
    const derived = session && deriveRun(session, run.key.runId);
    const failure = derived && failureOf(derived);
    if (!request.success || !session) {
      await this.#endRun(run, new AppError('run_interrupted', 'The run cannot be gone on with'));
    } else if (failure) {
      await this.#endRun(run, failure);
    } else {
      const { newMessage: _message, stateDelta: _delta, ...rest } = request.data;
      const begun = { ...(derived ? rest : request.data), invocationId: run.key.runId };
      this.#remember(run, this.#carryOn(run, begun));
    }
  }

  /** Resumes a run to its end. Never rejects. */
  async #carryOn(lost: TakenOverRun, request: RunRequest): Promise<void> {
    const { queue, runner, background, local, worker, log } = this.#options;
    const run = local.addBackground(lost.key);
    try {
      await local.replayStored(run);
      await worker.begin(run, await runner.enqueueLost(request, lost, queue, run.signal));
      await run.ended;
    } catch (error) {
      background.remove(run);
      run.end(error);
      log?.warn({ err: error, runId: lost.key.runId }, 'a run could not go on');
    }
  }

  /** Finishes a rollback whose server was lost. Never rejects. */
  async #rollBack(lost: TakenOverRun, runId: string): Promise<void> {
    const { queue, services, log } = this.#options;
    try {
      const slot = await (await queue.takeOver(lost, 'rollback', new AbortController().signal)).slot();
      try {
        await rollBackRun({ ...services, sessions: slot.sessions ?? services.sessions }, lost.key, runId);
      } finally {
        await slot.release();
      }
    } catch (error) {
      log?.warn({ err: error, runId }, 'a run could not be taken back');
    }
  }

  /** Keeps the next poll from taking over a run that is being resumed. */
  #remember({ key: { runId } }: TakenOverRun, over: Promise<void>): void {
    this.#resumed.add(runId);
    void over.finally(() => this.#resumed.delete(runId)); // never rejects
  }

  /** Ends a run that is not resumed, and stores an event with the reason. */
  async #endRun(run: TakenOverRun, reason: AppError): Promise<void> {
    const { queue, services } = this.#options;
    const { sessions } = services;
    const slot = await (await queue.takeOver(run, 'queue', new AbortController().signal)).slot();
    try {
      const session = await sessions.getSession(run.key);
      const derived = session && deriveRun(session, run.key.runId);
      if (session && derived && !failureOf(derived))
        await this.#storeFailure(session, run, reason, slot.sessions ?? sessions);
    } finally {
      await slot.release(reason);
    }
  }

  async #storeFailure(
    session: Session,
    { key }: TakenOverRun,
    reason: AppError,
    sessions: SessionService,
  ): Promise<void> {
    const last = session.events.findLast(({ invocationId }) => invocationId === key.runId);
    const author = last && last.author !== 'user' ? last.author : key.appName;
    const place = { session, invocationId: key.runId, agent: { name: author } };
    const event = failureEvent(place, last, reason);
    if (event) await sessions.appendEvent(session, event);
  }
}

/** Why a run is not resumed; `undefined` when it is. */
function reasonNotToResume({
  cancel,
  kind,
  wasOwnedHere,
  isDetached,
  takeovers,
  appendedEvents,
}: TakenOverRun): AppError | undefined {
  if (cancel !== undefined) return cancelReason(cancel);
  if (kind === 'live') return new AppError('run_interrupted', 'The conversation lost its server');
  // The client of the operation got an error.
  if (wasOwnedHere && !isDetached) return new AppError('run_interrupted', 'The database could not be reached');
  if (takeovers - appendedEvents > maxTakeoversWithoutProgress)
    return new AppError('run_interrupted', 'The run lost its server again and again');
  return undefined;
}
