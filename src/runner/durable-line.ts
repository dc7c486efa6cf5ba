import { AppError } from '../base/errors.ts';
import { leaseMs, type Placed, type RunEnd, type RunRef, type RunStore } from '../core/run-store.ts';
import type { RunLog } from '../core/runtime.ts';
import type { SessionService } from '../core/services.ts';
import type { OnBusy } from '../schemas/run.ts';
import type { SessionKey } from '../schemas/session.ts';
import { DurableTurn, lostRun, type TurnLine } from './durable-turn.ts';
import type { Arrival, Claim, RunLine, Turn } from './run-line.ts';

export interface DurableLineOptions {
  readonly store: RunStore;
  readonly sessions: SessionService;
  /** Runs that may wait for one session. Default 16. */
  readonly maxQueued?: number | undefined;
  readonly log?: RunLog | undefined;
}

const beatMs = 1_000;
const beatAgainMs = 250;
/** After so long without an answer of the store, others may count this replica as dead soon. */
const maxQuietMs = leaseMs - beatMs;
/** A run that waits asks again after this, should nobody have told it. */
const askAgainMs = 2_000;

/**
 * Lets one run at a time into each session, over all servers that share a store. A run that is begun holds its session
 * under a number that grows with each owner; whoever lost it stores nothing more.
 */
export class DurableLine implements RunLine {
  readonly #options: DurableLineOptions;
  readonly #turns = new Map<string, DurableTurn>();
  #beating: NodeJS.Timeout | undefined;
  #beatSent: Promise<void> | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #lastBeatMs = Number.NEGATIVE_INFINITY;
  #steadySinceMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  readonly #line: TurnLine = {
    finish: (turn, end) => this.#finish(turn, end),
    isKnownToLive: () => this.#quietMs < maxQuietMs,
  };

  constructor(options: DurableLineOptions) {
    this.#options = options;
  }

  /** Whether the store was in reach for a whole lease: only then can this replica tell who is dead. */
  get isSteady(): boolean {
    return this.#line.isKnownToLive() && performance.now() - this.#steadySinceMs > leaseMs;
  }

  /** Whether the store answered the last time it was told that this replica lives. */
  get isInTouch(): boolean {
    return this.#steadySinceMs < Number.POSITIVE_INFINITY;
  }

  /** The ids of the runs that are known here. */
  get known(): string[] {
    return [...this.#turns.values()].map(({ id }) => id);
  }

  /** Begins to tell that this replica lives. */
  start(): void {
    if (this.#watchdog || this.#isClosed) return;
    this.#watchdog = setInterval(() => this.#checkTouch(), beatMs / 2).unref();
    this.#beatAfter(0);
  }

  async enter(session: SessionKey, policy: OnBusy, signal: AbortSignal, arrival: Arrival = {}): Promise<Turn> {
    signal.throwIfAborted();
    this.start();
    if (!this.isInTouch) await this.#beat(); // a run whose replica nobody knows of would be taken over at once
    const { appName, userId, sessionId } = session;
    const key = { appName, userId, sessionId };
    const turn = new DurableTurn(key, arrival.id, signal, this.#line);
    turn.isDetached = arrival.isDetached === true;
    const name = nameOf(session, turn.id);
    if (this.#turns.has(name)) {
      throw new AppError('session_busy', `Run "${turn.id}" is not over yet`, { retryAfter: 1 });
    }
    this.#turns.set(name, turn);
    try {
      await this.#place(turn, policy, arrival);
      return turn;
    } catch (error) {
      await turn.release(error);
      throw error;
    }
  }

  of(session: SessionKey): readonly DurableTurn[] {
    const prefix = nameOf(session, '');
    const turns: DurableTurn[] = [];
    for (const [name, turn] of this.#turns) if (!turn.isHold && name.startsWith(prefix)) turns.push(turn);
    return turns.toSorted((one, other) => (one.startedAtMs ?? Infinity) - (other.startedAtMs ?? Infinity));
  }

  /** The run of a key in the store. */
  find({ id }: Pick<RunRef, 'id'>): DurableTurn | undefined {
    return this.#turns.values().find((turn) => turn.ref?.id === id);
  }

  all(): readonly DurableTurn[] {
    return [...this.#turns.values()];
  }

  /** Leaves the runs that go on by themselves to others, who go on from the last event that is stored. */
  async handBack(): Promise<void> {
    const turns = this.all().filter(({ isDetached }) => isDetached);
    for (const turn of turns) turn.giveUp(new AppError('run_interrupted', 'The run goes on at another server'));
    await Promise.all(turns.map((turn) => turn.over));
    await this.#options.store.handBack(turns.flatMap(({ ref }) => ref ?? []));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#beating);
    clearInterval(this.#watchdog);
  }

  async #place(turn: DurableTurn, policy: OnBusy, arrival: Arrival): Promise<void> {
    const { maxQueued = 16 } = this.#options;
    const claim =
      arrival.claim ??
      (await this.#enterStore(turn, arrival, {
        maxOpen: policy === 'reject' ? 0 : maxQueued,
        isFirst: isHasty(policy),
      }));
    turn.ref = claim.ref;
    arrival.onKept?.();
    turn.takesBack = arrival.takesBack ?? arrival.claim?.takesBack;
    turn.hasWaited = claim.fence === undefined || arrival.claim !== undefined;
    if (claim.fence !== undefined) turn.begin(claim, claim.fence, this.#options.sessions);
    else {
      arrival.onQueued?.(turn.id);
      await this.#wait(turn, claim, policy);
    }
  }

  async #wait(turn: DurableTurn, claim: Claim, policy: OnBusy): Promise<void> {
    const { sessions, store } = this.#options;
    const hasty = isHasty(policy);
    for (let mayBegin = !hasty || !(await this.#interrupt(turn, claim.ref, policy)); ; mayBegin = true) {
      turn.signal.throwIfAborted();
      const begun = mayBegin ? await store.begin(claim.ref) : 'waits';
      if (begun === 'gone') {
        turn.giveUp(lostRun(turn.id));
      } else if (begun !== 'waits') {
        turn.begin(claim, begun.fence, sessions);
        return;
      }
      if (hasty && mayBegin) await this.#interrupt(turn, claim.ref, policy); // another may have begun meanwhile
      await turn.nudged(askAgainMs);
    }
  }

  async #enterStore(
    turn: DurableTurn,
    { request, isLive, isDetached = false, idempotencyKey, fingerprint, createSession, isNew, takesBack }: Arrival,
    placing: { maxOpen: number; isFirst: boolean },
  ): Promise<Placed> {
    const run = {
      key: { ...turn.key, runId: turn.id },
      kind: turn.isHold ? ('hold' as const) : isLive ? ('live' as const) : ('run' as const),
      isDetached,
      input: JSON.stringify(request ?? {}),
      idempotencyKey,
      fingerprint,
      isNew: isNew ?? request?.invocationId === undefined,
      takesBack,
    };
    try {
      return await this.#options.store.enter(run, placing);
    } catch (error) {
      if (!createSession || !(error instanceof AppError) || error.code !== 'session_not_found') throw error;
      await createSession();
      return this.#options.store.enter(run, placing);
    }
  }

  /** Ends the run in progress. Resolves with whether there is one. */
  async #interrupt(turn: DurableTurn, ref: RunRef, policy: OnBusy): Promise<boolean> {
    const { store } = this.#options;
    // What waits to take back a certain run takes back no other.
    const takes = policy === 'rollback' && !turn.isHold;
    const current = await store.cancelCurrent(ref.session, 'run_interrupted', takes ? ref : undefined);
    if (!current) return false;
    if (takes) turn.takesBack = current.run.id;
    this.end(current.ref, 'run_interrupted');
    return true;
  }

  /** Tells a run that it shall end, if it is here. */
  end(ref: Pick<RunRef, 'id'>, reason: string): void {
    this.find(ref)?.abort(reasonFor(reason));
  }

  async #finish(turn: DurableTurn, end: RunEnd | undefined): Promise<void> {
    const { store, log } = this.#options;
    try {
      if (turn.ref && !turn.isGivenUp) await store.finish(turn.ref, turn.fence, end);
    } catch (error) {
      // It stays open in the store, and is looked after when that is back.
      log?.warn({ err: error, runId: turn.id }, 'the end of a run could not be stored');
    } finally {
      this.#turns.delete(nameOf(turn.key, turn.id));
    }
  }

  get #quietMs(): number {
    return performance.now() - this.#lastBeatMs;
  }

  /** One at a time: whoever asks meanwhile waits for the same answer. */
  #beat(): Promise<void> {
    return (this.#beatSent ??= this.#sendBeat().finally(() => (this.#beatSent = undefined)));
  }

  async #sendBeat(): Promise<void> {
    const sentMs = performance.now();
    try {
      const flags = await this.#options.store.beat();
      this.#lastBeatMs = sentMs;
      if (this.#steadySinceMs === Infinity) this.#steadySinceMs = sentMs;
      for (const { ref, reason } of flags) this.end(ref, reason);
    } catch (error) {
      this.#steadySinceMs = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  #beatAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#beating = setTimeout(() => {
      this.#beat().then(
        () => this.#beatAfter(beatMs),
        () => this.#beatAfter(beatAgainMs),
      );
    }, ms).unref();
  }

  /** Others may take over what is ours once the lease is over: so it ends here before. */
  #checkTouch(): void {
    if (this.#quietMs < maxQuietMs || this.#lastBeatMs === -Infinity) return;
    this.#steadySinceMs = Number.POSITIVE_INFINITY;
    const reason = new AppError('unavailable', 'The database cannot be reached', { retryAfter: 2 });
    for (const turn of this.#turns.values()) turn.giveUp(reason);
  }
}

const isHasty = (policy: OnBusy): boolean => policy === 'interrupt' || policy === 'rollback';

const nameOf = ({ appName, userId, sessionId }: SessionKey, id: string): string =>
  `${appName}\n${userId}\n${sessionId}\n${id}`;

export function reasonFor(code: string): AppError {
  if (code === 'run_cancelled') return new AppError('run_cancelled', 'The run was cancelled');
  return new AppError('run_interrupted', 'Another run of this session took its place');
}
