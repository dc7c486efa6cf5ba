import { AppError } from '../../base/errors.ts';

/** Seconds after which a client may retry when the database cannot be used. */
const retryAfter = 2;

/** SQLite's primary result codes for failures of the disk or the file, not of the statement. */
const outages: Readonly<Record<number, string>> = {
  5: 'The database is in use by another program',
  6: 'The database is in use by another program',
  8: 'The database cannot be written',
  10: 'The disk of the database fails',
  11: 'The database is damaged',
  13: 'The disk of the database is full',
  14: 'The database cannot be opened',
  26: 'The file is not a database',
};

const busyCodes = new Set([5, 6]);
const full = 13;
const cannotOpen = 14;
const constraint = 19;
/** No disk space for the shared-memory index of the log. */
const noRoomForIndex = 4874;

function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  if (code === noRoomForIndex) return full;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Whether another program has locked the file. */
export const isBusy = (error: unknown): boolean => busyCodes.has(resultCode(error) ?? 0);

export const isConstraint = (error: unknown): boolean => resultCode(error) === constraint;

/** Whether the whole transaction is lost, so that the connection should be reopened. */
export const isOutage = (error: unknown): boolean => (resultCode(error) ?? 0) in outages;

/** Error codes of creating the folder of a file. */
const folderFaults = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOSPC', 'EIO']);

/** The error for callers of a failed statement. */
export function asAppError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = folderFaults.has(code) ? outages[cannotOpen] : outages[resultCode(error) ?? 0];
  return message === undefined ? error : new AppError('unavailable', message, { cause: error, retryAfter });
}
