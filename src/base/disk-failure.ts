import { AppError } from './errors.ts';

/** What is wrong with a disk, by the code of the system's error: for a sentence that begins with its name. */
const troubles: Readonly<Record<string, string>> = {
  ENOSPC: 'is full',
  EDQUOT: 'is full',
  EFBIG: 'takes no file as large as this',
  EROFS: 'cannot be written',
  EACCES: 'may not be used',
  EPERM: 'may not be used',
  EIO: 'fails',
  EMFILE: 'cannot be used: too many files are open',
  ENFILE: 'cannot be used: too many files are open',
};

/** Seconds after which a client may try again. */
export const diskRetryAfter = 2;

/** What a caller sees of a disk that is full, read-only or broken; `undefined` for all other errors. */
export function diskFailure(error: unknown, disk = 'The disk of the server'): AppError | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const trouble = troubles[code];
  if (trouble === undefined) return undefined;
  return new AppError('unavailable', `${disk} ${trouble}`, { cause: error, retryAfter: diskRetryAfter });
}
