import { AppError } from './errors.ts';

/** The longest delay of a Node timer in milliseconds, about 24.8 days: a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Like `setTimeout` for any number: a longer delay is capped at `longestTimerMs`; Infinity starts no timer. */
export function startTimer(run: () => void, ms: number): NodeJS.Timeout | undefined {
  return ms === Infinity ? undefined : setTimeout(run, Math.min(ms, longestTimerMs));
}

/** A configured limit as a number: 0, negative and absent mean no limit, which is Infinity. */
export const limitOf = (limit: number | undefined): number => (limit !== undefined && limit > 0 ? limit : Infinity);

/**
 * Checks a time limit that an author set; `what` names it in the message. Absent means the default, Infinity no limit.
 * Throws ConfigurationException for NaN, 0 and negative numbers.
 */
export function checkTimeLimit(what: string, ms: number | undefined): void {
  if (ms === undefined || (typeof ms === 'number' && ms > 0)) return;
  throw new AppError('ConfigurationException', `${what} must be a number of milliseconds above 0, not ${String(ms)}`);
}
