import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { clientSignal } from './run-headers.ts';

/** How long a request waits for room. */
const patienceMs = 10_000;

interface Waiter {
  readonly bytes: number;
  enter(): void;
}

/**
 * A bound on the bodies that are held at once: a request whose body does not fit is not read, so its client has to wait,
 * until others have their answers. A body that is larger than all of it goes alone.
 */
export class BodyRoom {
  readonly #maxBytes: number;
  readonly #waiting = new Set<Waiter>();
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Resolves when there is room; `leave` has to be called then. Throws `unavailable`, and the signal's reason. */
  enter(bytes: number, signal: AbortSignal): Promise<void> | void {
    if (this.#fits(bytes)) {
      this.#held += bytes;
      return;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        refuse(new AppError('unavailable', 'Too many large requests at once', { retryAfter: 5 }));
      }, patienceMs);
      const onAbort = (): void => refuse(signal.reason as Error);
      const forget = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        bytes,
        enter: () => {
          forget();
          this.#held += bytes;
          resolve();
        },
      };
      const refuse = (reason: Error): void => {
        forget();
        reject(reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  leave(bytes: number): void {
    this.#held -= bytes;
    for (const waiter of this.#waiting) if (this.#fits(waiter.bytes)) waiter.enter();
  }

  #fits(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#maxBytes;
  }
}

/** Bodies up to this size are not counted: their number is limited by that of the connections. */
const smallBytes = 16 * 1024;

/** Has a body read once there is room for it, which it keeps until its request is answered. */
export function bodyHolder(room: BodyRoom, limitBytes: number) {
  return ({ headers }: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : limitBytes;
    if (!(bytes > smallBytes) || bytes > limitBytes) {
      done(); // what is above the limit is refused unread
      return;
    }
    const enter = (): void => {
      if (reply.raw.destroyed) room.leave(bytes);
      else reply.raw.once('close', () => room.leave(bytes));
      done();
    };
    const waiting = room.enter(bytes, clientSignal(reply));
    if (waiting) waiting.then(enter, done);
    else enter();
  };
}
