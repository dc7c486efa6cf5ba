import { AppError, type ErrorCode } from './errors.ts';

/** How long a caller waits for free bytes before it is rejected. */
const maxWaitMs = 15_000;

interface Waiter {
  readonly bytes: number;
  admit(): void;
}

/**
 * Limits the bytes that are in use at the same time. A caller whose bytes do not fit waits until others release theirs.
 * One that needs more than the whole budget is admitted when nobody else holds any.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  readonly #rejection: readonly [ErrorCode, string];
  readonly #waiting = new Set<Waiter>();
  #used = 0;

  /** `rejection`: code and message of the error that ends a wait of more than 15 seconds. */
  constructor(maxBytes: number, rejection: readonly [ErrorCode, string]) {
    this.#maxBytes = maxBytes;
    this.#rejection = rejection;
  }

  /** Resolves once the bytes are reserved; return them with `release`. Throws the rejection, or the signal's reason. */
  acquire(bytes: number, signal: AbortSignal): Promise<void> | void {
    if (this.#fits(bytes)) {
      this.#used += bytes;
      return;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        refuse(new AppError(...this.#rejection, { retryAfter: 5 }));
      }, maxWaitMs);
      const onAbort = (): void => refuse(signal.reason as Error);
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        bytes,
        admit: () => {
          stopWaiting();
          this.#used += bytes;
          resolve();
        },
      };
      const refuse = (reason: Error): void => {
        stopWaiting();
        reject(reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  release(bytes: number): void {
    this.#used -= bytes;
    for (const waiter of this.#waiting) if (this.#fits(waiter.bytes)) waiter.admit();
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#maxBytes;
  }
}
