import { LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { startTimer } from '../base/timers.ts';

/** Runs `work` with a signal that also aborts after `ms`. Rejects with `timed_out` then, or with the outer signal's reason. */
export async function withTimeLimit<T>(
  { signal, ms, what }: { readonly signal: AbortSignal; readonly ms: number; readonly what: string },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using abort = new LinkedAbort(signal);
  const timer = startTimer(() => {
    abort.abort(new AppError('timed_out', `${what} did not answer within ${ms / 1000} s`));
  }, ms);
  try {
    return await work(abort.signal);
  } catch (error) {
    abort.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
