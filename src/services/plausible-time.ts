import { AppError } from '../base/errors.ts';

/**
 * The range of plausible times of storage, in milliseconds since the epoch: from the year 2000 to the end of next year. A
 * time outside was misread, or written in another unit, and must not decide that something is deleted.
 */
export function plausibleTimes(): { earliestMs: number; latestMs: number } {
  return { earliestMs: Date.UTC(2000, 0), latestMs: Date.UTC(new Date().getUTCFullYear() + 2, 0) - 1 };
}

/** Throws `ConfigurationException` for an implausible time of storage, in milliseconds. */
export function requirePlausible(ms: number, what: string, field: string): void {
  const { earliestMs, latestMs } = plausibleTimes();
  if (!(ms >= earliestMs && ms <= latestMs)) throw implausibleTime(what, field, ms);
}

/** `what` names the owner of the time, `field` its column or field, and `value` its value. */
export function implausibleTime(what: string, field: string, value: unknown): AppError {
  return new AppError(
    'ConfigurationException',
    `${what} has the time ${JSON.stringify(value)} (${field}), which is before the year 2000 or after next year: nothing is deleted until it is corrected`,
  );
}
