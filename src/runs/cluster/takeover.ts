import { AppError } from '../../base/errors.ts';
import { failureOf, outcomeOfFailure, deriveRun } from '../../core/run-status.ts';
import { type TakenOverRun, takeOverBatch, type RunStore } from '../../core/run-store.ts';
import type { RunKey } from '../../core/runs.ts';
import type { RunLog } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import { failureEvent } from '../../runner/failure-event.ts';
import type { ExistingLease } from '../../runner/queue/run-queue.ts';
import { RunRequest } from '../../schemas/run.ts';
import type { Session } from '../../schemas/session.ts';
import { type LeasedRunQueue, cancelReason } from './leased-queue.ts';

export interface TakeoverOptions {
  readonly store: RunStore;
  readonly queue: LeasedRunQueue;
  readonly sessions: SessionService;
  /** Goes on with a run that has been claimed. Never rejects. */
  readonly resume: (request: RunRequest, claim: ExistingLease) => Promise<void>;
  /** Takes back the events of a run under a claim that was made for it. */
  readonly rollBack: (key: RunKey, claim: ExistingLease) => Promise<void>;
  readonly log?: RunLog | undefined;
}

const pollMs = 500;
/** A run that has lost so many homes more than it has stored events may be what kills them. */
const maxTakeoversWithoutProgress = 10;

/** Looks for runs whose replica is gone, and goes on with them. */
export class RunTakeover {
  readonly #options: TakeoverOptions;
  /** Runs that go on, which the line may not know yet. */
  readonly #resumed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TakeoverOptions) {
    this.#options = options;
  }

  start(): void {
    const takeOverLostRuns = async (): Promise<void> => {
      await this.look();
      if (!this.#isClosed) this.#timer = setTimeout(() => void takeOverLostRuns(), pollMs).unref();
    };
    this.#timer = setTimeout(() => void takeOverLostRuns(), 0); // never rejects
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Looks once. */
  async look(): Promise<void> {
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
    const { sessions, resume } = this.#options;
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
      this.#remember(run, resume(begun, run));
    }
  }

  async #rollBack(run: TakenOverRun, runId: string): Promise<void> {
    try {
      await this.#options.rollBack({ ...run.key, runId }, run);
    } catch (error) {
      this.#options.log?.warn({ err: error, runId }, 'a run could not be taken back');
    }
  }

  /** Remembers a run for as long as it goes on. */
  #remember({ key: { runId } }: TakenOverRun, over: Promise<void>): void {
    this.#resumed.add(runId);
    void over.finally(() => this.#resumed.delete(runId)); // never rejects
  }

  /** Ends a run that is not gone on with, and says so in its session. */
  async #endRun(run: TakenOverRun, reason: AppError): Promise<void> {
    const { queue, sessions } = this.#options;
    const slot = await queue.acquire(run.key, 'queue', new AbortController().signal, { id: run.key.runId, claim: run });
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

/** Why a run is not to go on; `undefined` when it is. */
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
  // Whoever asked for it was told that it failed.
  if (wasOwnedHere && !isDetached) return new AppError('run_interrupted', 'The database could not be reached');
  if (takeovers - appendedEvents > maxTakeoversWithoutProgress)
    return new AppError('run_interrupted', 'The run lost its server again and again');
  return undefined;
}
