import { completesWithin, LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { type Rank, ranks } from '../../core/run-store.ts';
import type { OnBusy } from '../../schemas/run.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import type { RunFeed } from './event-log.ts';
import { OpenWrites } from './fenced-stores.ts';
import {
  type Arrival,
  isPreempting,
  type LocalRun,
  placingOf,
  type RunLine,
  sessionGone,
  superseded,
  type Turn,
} from './run-queue.ts';

interface Line {
  running: Seat;
  readonly waiting: Seat[];
}

/** Lets one run at a time into each session; the others wait in the order they came. Sessions never wait for each other. */
export class SessionQueue implements RunLine {
  readonly #lines = new Map<string, Line>();
  readonly #maxWaiting: number;

  constructor(maxWaiting = 16) {
    this.#maxWaiting = maxWaiting;
  }

  async enter(session: SessionKey, policy: OnBusy, signal: AbortSignal, arrival: Arrival = {}): Promise<Seat> {
    signal.throwIfAborted();
    const key = lineOf(session);
    const line = this.#lines.get(key);
    const isHold = arrival.id === undefined;
    if (!line) {
      const seat = new Seat(arrival.id ?? '', signal, key, this);
      this.#lines.set(key, { running: seat, waiting: [] });
      seat.begin();
      return seat;
    }
    const { maxOpen, rank } = placingOf(policy, isHold, this.#maxWaiting);
    if (line.waiting.length >= maxOpen) throw refusal(session, maxOpen);
    const seat = new Seat(arrival.id ?? '', signal, key, this);
    seat.rank = rank;
    if (isPreempting(policy)) {
      if (policy === 'rollback') seat.takesBack = line.running.id;
      line.running.abort(superseded());
    }
    const turn = waitInLine(line, seat);
    arrival.onQueued?.(seat.id);
    await turn;
    return seat;
  }

  async vacate(session: SessionKey, graceMs: number): Promise<Seat> {
    const key = lineOf(session);
    const old = this.#lines.get(key);
    const hold = new Seat('', new AbortController().signal, key, this);
    hold.rank = ranks.hold;
    this.#lines.set(key, { running: hold, waiting: [] });
    hold.begin();
    if (!old) return hold;
    const reason = sessionGone(session);
    const seats = [old.running, ...old.waiting];
    const over = Promise.all(seats.map((seat) => seat.over));
    for (const seat of seats) seat.evict(reason);
    await completesWithin(over, graceMs);
    for (const { feed } of seats) feed?.end(reason);
    return hold;
  }

  of(session: SessionKey): readonly Seat[] {
    const line = this.#lines.get(lineOf(session));
    return line ? [line.running, ...line.waiting] : [];
  }

  /** Lets the run behind `seat` begin, unless that is not in progress any more. */
  next(key: string, seat: Seat): void {
    const line = this.#lines.get(key);
    if (line?.running !== seat) return;
    const next = line.waiting.shift();
    if (!next) {
      this.#lines.delete(key);
      return;
    }
    line.running = next;
    if (next.takesBack !== undefined && seat.id !== '') next.takesBack = seat.id;
    next.begin();
    const isSuperseded = line.waiting[0]?.rank === ranks.preempting && next.rank !== ranks.hold;
    if (isSuperseded) next.abort(superseded());
  }
}

const lineOf = ({ appName, userId, sessionId }: SessionKey): string => `${appName}\n${userId}\n${sessionId}`;

/** A class, because an object with functions of its own made for every run outlives the run in the garbage collector. */
export class Seat implements Turn, LocalRun {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs = Date.now();
  startedAtMs: number | undefined;
  takesBack: string | undefined;
  rank: Rank = ranks.plain;
  session: Session | undefined;
  feed: RunFeed | undefined;
  readonly #running: LinkedAbort;
  readonly #key: string;
  #queue: SessionQueue | undefined;
  #onTurn: (() => void) | undefined;
  #over: PromiseWithResolvers<void> | undefined;
  #writes: OpenWrites | undefined;
  #evicted: AppError | undefined;

  constructor(id: string, signal: AbortSignal, key: string, queue: SessionQueue) {
    this.id = id;
    this.#running = new LinkedAbort(signal);
    this.#key = key;
    this.#queue = queue;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  /** Resolves when the run is over. */
  get over(): Promise<void> {
    if (!this.#queue) return Promise.resolve();
    this.#over ??= Promise.withResolvers();
    return this.#over.promise;
  }

  abort(reason: AppError): void {
    this.#running.abort(reason);
  }

  /** Ends the run of a session that is to be deleted. */
  evict(reason: AppError): void {
    this.#evicted = reason;
    this.abort(reason);
  }

  check(): void {
    if (this.#evicted) throw this.#evicted;
  }

  noteWrite(write: Promise<unknown>): void {
    this.#writes ??= new OpenWrites();
    this.#writes.note(write);
  }

  begin(): void {
    this.startedAtMs = Date.now();
    this.#onTurn?.();
    this.#onTurn = undefined;
  }

  /** Calls back when the run's turn has come. */
  whenItsTurn(onTurn: () => void): void {
    this.#onTurn = onTurn;
  }

  release(): void {
    const queue = this.#queue;
    this.leave();
    queue?.next(this.#key, this);
  }

  /** Ends a run that had no turn, or has it no more. */
  leave(): void {
    if (!this.#queue) return;
    this.#queue = undefined;
    this.#running[Symbol.dispose]();
    this.feed?.end(undefined);
    const over = this.#over;
    if (!this.#evicted || !this.#writes) over?.resolve();
    else void this.#writes.over().then(over?.resolve); // never rejects
  }
}

function waitInLine(line: Line, seat: Seat): Promise<void> {
  const { signal } = seat;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      line.waiting.splice(line.waiting.indexOf(seat), 1);
      seat.feed?.end(signal.reason);
      seat.leave();
      reject(signal.reason as Error);
    };
    seat.whenItsTurn(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    signal.addEventListener('abort', leave, { once: true });
    const place = line.waiting.findIndex(({ rank }) => rank < seat.rank);
    line.waiting.splice(place < 0 ? line.waiting.length : place, 0, seat);
  });
}

function refusal({ sessionId }: SessionKey, maxOpen: number): AppError {
  if (maxOpen === 0) {
    return new AppError('session_busy', `Session "${sessionId}" has a run in progress`, { retryAfter: 1 });
  }
  const message = `${maxOpen} runs are already waiting for session "${sessionId}"`;
  return new AppError('queue_full', message, { retryAfter: 1 });
}
