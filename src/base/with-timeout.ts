import { startTimer } from './timers.ts';

/**
 * Settles like `work`, or rejects with the signal's reason, or after `ms` milliseconds with the error that `late` makes;
 * whichever comes first. A later result or rejection of `work` is ignored. Leaves no timer and no listener behind.
 */
export function withTimeout<T>(work: PromiseLike<T>, ms: number, signal: AbortSignal, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = startTimer(() => finish(() => reject(late())), ms);
    const onAbort = (): void => finish(() => reject(signal.reason as Error));
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
