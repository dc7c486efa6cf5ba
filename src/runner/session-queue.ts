import { LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { OnBusy } from '../schemas/run.ts';
import type { SessionKey } from '../schemas/session.ts';

/** The right to be the only run of a session. Its signal ends when the caller's does, or when another run interrupts. */
export interface Turn {
  readonly signal: AbortSignal;
  /** Ends the run from inside, for instance when its time is over. */
  abort(reason: AppError): void;
  /** Lets the next run begin. Calling it again does nothing. */
  release(): void;
}

interface Line {
  running: LinkedAbort;
  readonly waiting: Waiter[];
}

interface Waiter {
  readonly start: () => void;
}

/** Lets one run at a time into each session; the others wait in the order they came. Sessions never wait for each other. */
export class SessionQueue {
  readonly #lines = new Map<string, Line>();
  readonly #maxWaiting: number;

  constructor(maxWaiting = 16) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves when it is this run's turn. Throws `session_busy` (policy `reject`), `queue_full`, or the signal's reason
   * when the caller leaves the line. `interrupt` ends the run in progress and goes next.
   */
  async enter(session: SessionKey, policy: OnBusy, signal: AbortSignal): Promise<Turn> {
    signal.throwIfAborted();
    const key = `${session.appName}\n${session.userId}\n${session.sessionId}`;
    const line = this.#lines.get(key);
    if (!line) return this.#begin(key, signal);
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
    if (policy === 'interrupt') {
      line.running.abort(new AppError('run_interrupted', 'Another run of this session took its place'));
    }
    await waitInLine(line, policy, signal);
    return this.#begin(key, signal);
  }

  #begin(key: string, signal: AbortSignal): Turn {
    const running = new LinkedAbort(signal);
    const line = this.#lines.get(key);
    if (line) line.running = running;
    else this.#lines.set(key, { running, waiting: [] });
    return new HeldTurn(running, key, this);
  }

  /** Lets the next run of a session begin. */
  next(key: string): void {
    const next = this.#lines.get(key)?.waiting.shift();
    if (next) next.start();
    else this.#lines.delete(key);
  }
}

/** A class, because an object with functions of its own made for every run outlives the run in the garbage collector. */
class HeldTurn implements Turn {
  readonly #running: LinkedAbort;
  readonly #key: string;
  #queue: SessionQueue | undefined;

  constructor(running: LinkedAbort, key: string, queue: SessionQueue) {
    this.#running = running;
    this.#key = key;
    this.#queue = queue;
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }

  abort(reason: AppError): void {
    this.#running.abort(reason);
  }

  release(): void {
    const queue = this.#queue;
    this.#queue = undefined;
    if (!queue) return;
    this.#running[Symbol.dispose]();
    queue.next(this.#key);
  }
}

function waitInLine(line: Line, policy: OnBusy, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      start: () => {
        signal.removeEventListener('abort', leave);
        resolve();
      },
    };
    const leave = (): void => {
      line.waiting.splice(line.waiting.indexOf(waiter), 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (policy === 'interrupt') line.waiting.unshift(waiter);
    else line.waiting.push(waiter);
  });
}
