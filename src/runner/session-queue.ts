import { LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { OnBusy } from '../schemas/run.ts';
import type { Session, SessionKey } from '../schemas/session.ts';
import type { RunFeed } from './run-feed.ts';
import type { Arrival, LocalRun, RunLine, Turn } from './run-line.ts';

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
    if (!line) {
      const seat = new Seat(arrival.id ?? '', signal, key, this);
      this.#lines.set(key, { running: seat, waiting: [] });
      seat.begin();
      return seat;
    }
    if (policy === 'reject') {
      throw new AppError('session_busy', `Session "${session.sessionId}" has a run in progress`, { retryAfter: 1 });
    }
    if (line.waiting.length >= this.#maxWaiting) {
      throw new AppError(
        'queue_full',
        `${this.#maxWaiting} runs are already waiting for session "${session.sessionId}"`,
        {
          retryAfter: 1,
        },
      );
    }
    const seat = new Seat(arrival.id ?? '', signal, key, this);
    if (policy !== 'queue') {
      if (policy === 'rollback') seat.takesBack = line.running.id;
      line.running.abort(new AppError('run_interrupted', 'Another run of this session took its place'));
    }
    const turn = waitInLine(line, seat, policy);
    arrival.onQueued?.(seat.id);
    await turn;
    return seat;
  }

  of(session: SessionKey): readonly Seat[] {
    const line = this.#lines.get(lineOf(session));
    return line ? [line.running, ...line.waiting] : [];
  }

  /** Lets the next run of a session begin. */
  next(key: string): void {
    const line = this.#lines.get(key);
    const next = line?.waiting.shift();
    if (!line || !next) {
      this.#lines.delete(key);
      return;
    }
    line.running = next;
    next.begin();
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
  session: Session | undefined;
  feed: RunFeed | undefined;
  readonly #running: LinkedAbort;
  readonly #key: string;
  #queue: SessionQueue | undefined;
  #onTurn: (() => void) | undefined;
  #over: PromiseWithResolvers<void> | undefined;

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
    queue?.next(this.#key);
  }

  /** Ends a run that had no turn, or has it no more. */
  leave(): void {
    if (!this.#queue) return;
    this.#queue = undefined;
    this.#running[Symbol.dispose]();
    this.feed?.end(undefined);
    this.#over?.resolve();
  }
}

function waitInLine(line: Line, seat: Seat, policy: OnBusy): Promise<void> {
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
    if (policy === 'queue') line.waiting.push(seat);
    else line.waiting.unshift(seat);
  });
}
