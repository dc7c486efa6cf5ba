import { AppError } from './errors.ts';

/** The longest time a timer of Node counts, some 24.8 days, in milliseconds: for what is longer it fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Like `setTimeout` for any number: what is longer than a timer counts is that long, and Infinity is never. */
export function startTimer(run: () => void, ms: number): NodeJS.Timeout | undefined {
  return ms === Infinity ? undefined : setTimeout(run, Math.min(ms, longestTimerMs));
}

/** A limit as people write it: 0, less, and nothing at all are no limit, which is Infinity. */
export const limitOf = (limit: number | undefined): number => (limit !== undefined && limit > 0 ? limit : Infinity);

/**
 * Checks the time an author gave something, `what` naming it in the message. Absent: a default holds; Infinity: no limit.
 * Throws ConfigurationException for what no limit can be: NaN, 0 and less.
 */
export function checkTimeLimit(what: string, ms: number | undefined): void {
  if (ms === undefined || (typeof ms === 'number' && ms > 0)) return;
  throw new AppError('ConfigurationException', `${what} must be a number of milliseconds above 0, not ${String(ms)}`);
}
