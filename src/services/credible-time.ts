import { AppError } from '../base/errors.ts';

/**
 * Between the year 2000 and the end of next year, in milliseconds since the epoch, lies every time that something was
 * stored at. One outside of it was misread, or written in another unit: nothing is deleted on the ground of it.
 */
export function credibleTimes(): { earliestMs: number; latestMs: number } {
  return { earliestMs: Date.UTC(2000, 0), latestMs: Date.UTC(new Date().getUTCFullYear() + 2, 0) - 1 };
}

/** Throws `ConfigurationException` for a time, in milliseconds, that nothing can have been stored at. */
export function requireCredible(ms: number, what: string, field: string): void {
  const { earliestMs, latestMs } = credibleTimes();
  if (!(ms >= earliestMs && ms <= latestMs)) throw incredible(what, field, ms);
}

/** `what` names whose time it is, `field` where it stands, and `value` is what stands there. */
export function incredible(what: string, field: string, value: unknown): AppError {
  return new AppError(
    'ConfigurationException',
    `${what} has the time ${JSON.stringify(value)} (${field}), which is before the year 2000 or after next year: nothing is deleted until that is mended`,
  );
}
