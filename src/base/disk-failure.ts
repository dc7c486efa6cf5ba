import { AppError } from './errors.ts';

/** What is wrong with a disk, by the code of the system error. The text follows the disk's name in a sentence. */
const troubles: Readonly<Record<string, string>> = {
  ENOSPC: 'is full',
  EDQUOT: 'is full',
  EFBIG: 'does not accept a file of this size',
  EROFS: 'cannot be written',
  EACCES: 'may not be used',
  EPERM: 'may not be used',
  EIO: 'fails',
  EMFILE: 'cannot be used: too many files are open',
  ENFILE: 'cannot be used: too many files are open',
};

/** Seconds after which a client may try again. */
export const diskRetryAfter = 2;

/** The error a caller sees when a disk is full, read-only or broken; `undefined` for all other errors. */
export function diskFailure(error: unknown, disk = 'The disk of the server'): AppError | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const trouble = troubles[code];
  if (trouble === undefined) return undefined;
  return new AppError('unavailable', `${disk} ${trouble}`, { cause: error, retryAfter: diskRetryAfter });
}
