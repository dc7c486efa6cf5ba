import { AppError, type ErrorCode } from './errors.ts';

/** How long somebody waits for room. */
const patienceMs = 15_000;

interface Waiter {
  readonly bytes: number;
  enter(): void;
}

/**
 * A bound in bytes on what is held at once. Who does not fit waits for others to leave; who needs more than there is at all
 * goes alone.
 */
export class Room {
  readonly #maxBytes: number;
  readonly #refusal: readonly [ErrorCode, string];
  readonly #waiting = new Set<Waiter>();
  #held = 0;

  /** `refusal`: what is said to who has waited for too long. */
  constructor(maxBytes: number, refusal: readonly [ErrorCode, string]) {
    this.#maxBytes = maxBytes;
    this.#refusal = refusal;
  }

  /** Resolves when there is room; `leave` has to be called then. Throws the refusal, and the signal's reason. */
  enter(bytes: number, signal: AbortSignal): Promise<void> | void {
    if (this.#fits(bytes)) {
      this.#held += bytes;
      return;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        refuse(new AppError(...this.#refusal, { retryAfter: 5 }));
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
