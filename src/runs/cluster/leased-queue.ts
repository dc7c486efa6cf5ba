import { AppError } from '../../base/errors.ts';
import { leaseMs, type Placed, type Placing, type RunEnd, type RunRef, type RunStore } from '../../core/run-store.ts';
import type { RunLog } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import {
  type Arrival,
  type Claim,
  holdPlacing,
  isPreempting,
  placingOf,
  type RunLine,
  sessionGone,
  superseded,
  type Turn,
} from '../../runner/queue/run-queue.ts';
import type { OnBusy } from '../../schemas/run.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { DurableTurn, lostRun, type TurnLine } from './run-lease.ts';

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

  async vacate(session: SessionKey, graceMs: number): Promise<Turn> {
    const endMs = performance.now() + graceMs;
    this.start();
    if (!this.isInTouch) await this.#beat();
    const { appName, userId, sessionId } = session;
    const hold = new DurableTurn({ appName, userId, sessionId }, undefined, new AbortController().signal, this.#line);
    this.#turns.set(nameOf(session, hold.id), hold);
    try {
      const placed = await this.#enterStore(hold, {}, holdPlacing);
      hold.ref = placed.ref;
      if (placed.fence !== undefined) hold.begin(placed, placed.fence, this.#options.sessions);
      else await this.#clear(hold, placed, endMs);
      return hold;
    } catch (error) {
      await hold.release(error);
      throw error;
    }
  }

  of(session: SessionKey): readonly DurableTurn[] {
    const prefix = nameOf(session, '');
    const turns: DurableTurn[] = [];
    for (const [name, turn] of this.#turns) {
      if (!turn.isHold && !turn.isEvicted && name.startsWith(prefix)) turns.push(turn);
    }
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

  /** Ends the runs before and behind `hold`, and waits until it is its turn, or until the time is over. */
  async #clear(hold: DurableTurn, placed: Placed, endMs: number): Promise<void> {
    const { store, sessions } = this.#options;
    const { ref } = placed;
    const gone = sessionGone(hold.key);
    for (;;) {
      await store.cancelAll(ref.session, gone.code);
      for (const turn of this.#runsOf(ref)) turn.evict(gone);
      const begun = await store.begin(ref);
      if (begun === 'deleted') throw gone;
      if (begun === 'gone') throw lostRun(hold.id);
      if (begun !== 'waits') return hold.begin({ ...placed, fence: begun.fence }, begun.fence, sessions);
      const restMs = endMs - performance.now();
      if (restMs <= 0) break;
      await hold.nudged(Math.min(restMs, askAgainMs));
    }
    for (const turn of this.#runsOf(ref)) turn.feed?.end(gone);
  }

  #runsOf({ session }: RunRef): DurableTurn[] {
    return this.all().filter(({ ref, isHold }) => ref?.session === session && !isHold);
  }

  get #maxQueued(): number {
    return this.#options.maxQueued ?? 16;
  }

  async #place(turn: DurableTurn, policy: OnBusy, arrival: Arrival): Promise<void> {
    const placing = placingOf(policy, turn.isHold, this.#maxQueued);
    const claim = arrival.claim ?? (await this.#enterStore(turn, { ...arrival, policy }, placing));
    turn.createdAtMs = claim.createdAtMs ?? turn.createdAtMs;
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
    const preempts = isPreempting(policy);
    for (let mayBegin = !preempts || !(await this.#interrupt(claim.ref)); ; mayBegin = true) {
      turn.signal.throwIfAborted();
      const begun = mayBegin ? await store.begin(claim.ref) : 'waits';
      if (begun === 'gone' || begun === 'deleted') {
        turn.giveUp(begun === 'gone' ? lostRun(turn.id) : sessionGone(turn.key));
      } else if (begun !== 'waits') {
        turn.begin({ ...claim, startedAtMs: begun.startedAtMs }, begun.fence, sessions);
        if (!turn.isHold) {
          turn.takesBack = begun.takesBack;
          if (begun.isSuperseded) turn.abort(superseded());
        }
        return;
      }
      if (preempts && mayBegin) await this.#interrupt(claim.ref); // another may have begun meanwhile
      await turn.nudged(askAgainMs);
    }
  }

  async #enterStore(
    turn: DurableTurn,
    {
      request,
      isLive,
      isDetached = false,
      idempotencyKey,
      fingerprint,
      createSession,
      isNew,
      takesBack,
      policy,
    }: Arrival & { policy?: OnBusy },
    placing: Placing,
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
      takesBackCurrent: policy === 'rollback' && !turn.isHold,
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
  async #interrupt(ref: RunRef): Promise<boolean> {
    const { store } = this.#options;
    const current = await store.cancelCurrent(ref.session, 'run_interrupted');
    if (!current) return false;
    this.end(current.ref, 'run_interrupted');
    return true;
  }

  /** Tells a run that it shall end, if it is here. */
  end(ref: Pick<RunRef, 'id'>, reason: string): void {
    const turn = this.find(ref);
    if (reason === 'session_not_found') turn?.evict(sessionGone(turn.key));
    else turn?.abort(reasonFor(reason));
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
      if (turn.isHold && turn.ref) for (const waiting of this.#runsOf(turn.ref)) waiting.wake(); // is the session gone?
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

const nameOf = ({ appName, userId, sessionId }: SessionKey, id: string): string =>
  `${appName}\n${userId}\n${sessionId}\n${id}`;

/** Why a run is to end, from what the store says of it. */
export function reasonFor(code: string): AppError {
  return code === 'run_cancelled' ? new AppError(code, 'The run was cancelled') : superseded();
}
