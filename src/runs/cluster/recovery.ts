import { AppError } from '../../base/errors.ts';
import { failureOf, outcomeOfFailure, runIn } from '../../core/run-status.ts';
import { type AdoptedRun, adoptedAtOnce, type RunStore } from '../../core/run-store.ts';
import type { RunKey } from '../../core/runs.ts';
import type { RunLog } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import { closingEvent } from '../../runner/closing-event.ts';
import type { Claim } from '../../runner/queue/run-queue.ts';
import { RunRequest } from '../../schemas/run.ts';
import type { Session } from '../../schemas/session.ts';
import { type DurableLine, reasonFor } from './leased-queue.ts';

export interface RecoveryOptions {
  readonly store: RunStore;
  readonly line: DurableLine;
  readonly sessions: SessionService;
  /** Goes on with a run that has been claimed. Never rejects. */
  readonly resume: (request: RunRequest, claim: Claim) => Promise<void>;
  /** Takes back the events of a run under a claim that was made for it. */
  readonly takeBack: (key: RunKey, claim: Claim) => Promise<void>;
  readonly log?: RunLog | undefined;
}

const lookMs = 500;
/** A run that has lost so many homes more than it has stored events may be what kills them. */
const maxVainAttempts = 10;

/** Looks for runs whose replica is gone, and goes on with them. */
export class RunRecovery {
  readonly #options: RecoveryOptions;
  /** Runs that go on, which the line may not know yet. */
  readonly #resumed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  start(): void {
    const look = async (): Promise<void> => {
      await this.look();
      if (!this.#isClosed) this.#timer = setTimeout(() => void look(), lookMs).unref();
    };
    this.#timer = setTimeout(() => void look(), 0); // never rejects
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Looks once. */
  async look(): Promise<void> {
    const { store, line, log } = this.#options;
    if (!line.isInTouch) return;
    try {
      const known = (): string[] => [...line.known, ...this.#resumed];
      let adopted: AdoptedRun[];
      do {
        adopted = await store.adopt(known, line.isSteady);
        await Promise.all(adopted.map((run) => this.#take(run)));
      } while (adopted.length >= adoptedAtOnce && !this.#isClosed);
    } catch (error) {
      log?.warn({ err: error }, 'runs of other servers could not be taken over');
    }
  }

  async #take(run: AdoptedRun): Promise<void> {
    const { log } = this.#options;
    log?.warn({ runId: run.key.runId, attempts: run.attempts }, 'a run lost its server');
    try {
      await this.#takeOn(run);
    } catch (error) {
      log?.warn({ err: error, runId: run.key.runId }, 'a run could not be taken over');
    }
  }

  async #takeOn(run: AdoptedRun): Promise<void> {
    const { store } = this.#options;
    if (run.kind === 'hold') {
      if (run.takesBack === undefined) await store.finish(run.ref, run.fence, undefined);
      else this.#last(run, this.#takeBack(run, run.takesBack));
      return;
    }
    const end = endOf(run);
    if (!end) await this.#goOn(run);
    else if (run.fence === undefined) await store.finish(run.ref, undefined, outcomeOfFailure(end));
    else await this.#close(run, end);
  }

  async #goOn(run: AdoptedRun): Promise<void> {
    const { sessions, resume } = this.#options;
    const request = RunRequest.safeParse(JSON.parse(run.input));
    const session = await sessions.getSession(run.key);
    const told = session && runIn(session, run.key.runId);
    const failure = told && failureOf(told);
    if (!request.success || !session) {
      await this.#close(run, new AppError('run_interrupted', 'The run cannot be gone on with'));
    } else if (failure) {
      await this.#close(run, failure);
    } else {
      const { newMessage: _message, stateDelta: _delta, ...rest } = request.data;
      const begun = { ...(told ? rest : request.data), invocationId: run.key.runId };
      this.#last(run, resume(begun, run));
    }
  }

  async #takeBack(run: AdoptedRun, runId: string): Promise<void> {
    try {
      await this.#options.takeBack({ ...run.key, runId }, run);
    } catch (error) {
      this.#options.log?.warn({ err: error, runId }, 'a run could not be taken back');
    }
  }

  /** Remembers a run for as long as it goes on. */
  #last({ key: { runId } }: AdoptedRun, over: Promise<void>): void {
    this.#resumed.add(runId);
    void over.finally(() => this.#resumed.delete(runId)); // never rejects
  }

  /** Ends a run that is not gone on with, and says so in its session. */
  async #close(run: AdoptedRun, reason: AppError): Promise<void> {
    const { line, sessions } = this.#options;
    const turn = await line.enter(run.key, 'queue', new AbortController().signal, { id: run.key.runId, claim: run });
    try {
      const session = await sessions.getSession(run.key);
      const told = session && runIn(session, run.key.runId);
      if (session && told && !failureOf(told)) await this.#say(session, run, reason, turn.sessions ?? sessions);
    } finally {
      await turn.release(reason);
    }
  }

  async #say(session: Session, { key }: AdoptedRun, reason: AppError, sessions: SessionService): Promise<void> {
    const last = session.events.findLast(({ invocationId }) => invocationId === key.runId);
    const author = last && last.author !== 'user' ? last.author : key.appName;
    const place = { session, invocationId: key.runId, agent: { name: author } };
    const event = closingEvent(place, last, reason);
    if (event) await sessions.appendEvent(session, event);
  }
}

/** Why a run is not to go on; `undefined` when it is. */
function endOf({ cancel, kind, isOwn, isDetached, attempts, steps }: AdoptedRun): AppError | undefined {
  if (cancel !== undefined) return reasonFor(cancel);
  if (kind === 'live') return new AppError('run_interrupted', 'The conversation lost its server');
  // Whoever asked for it was told that it failed.
  if (isOwn && !isDetached) return new AppError('run_interrupted', 'The database could not be reached');
  if (attempts - steps > maxVainAttempts)
    return new AppError('run_interrupted', 'The run lost its server again and again');
  return undefined;
}
