import { AppError } from '../../base/errors.ts';

/** Seconds after which a client may retry when the database is unreachable. */
const retryAfter = 2;

/** Classes of SQLSTATE for failures of the server, not of the statement: connection, resources, operator, system. */
const outages = /^(?:08|53|57P|58|F0|XX)/;
const diskFull = '53100';
const networkCodes = /^(?:ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|ENOENT|EACCES)/;
/** Messages of `pg` errors without a code. */
const networkMessages = /timeout|terminated|connection|not queryable|client was closed|client has encountered/i;

export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Whether the server was unreachable. Whether the statement was executed is unknown. */
export function isOutage(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.some(isOutage);
  const code = sqlStateOf(error);
  if (code === '') return error instanceof Error && networkMessages.test(error.message);
  return outages.test(code) || networkCodes.test(code) || code === '25006'; // 25006: a standby rejects writes
}

/** Whether the statement was rolled back because of concurrent ones, so that it may be retried. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01', '55P03'].includes(sqlStateOf(error));

/** The error for callers of a failed statement. */
export function asAppError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = sqlStateOf(error);
  if (code === '22001') return new AppError('invalid_name', 'An id is longer than the database keeps (191 characters)');
  if (code === '22021') return new AppError('invalid_request', 'An id holds U+0000', { cause: error });
  if (code === '28P01' || code === '28000' || code === '3D000' || code === '42501') {
    return new AppError('unavailable', 'The database refuses the server', { cause: error, retryAfter });
  }
  if (!isOutage(error)) return error;
  const message = code === diskFull ? 'The disk of the database is full' : 'The database cannot be reached';
  return new AppError('unavailable', message, { cause: error, retryAfter });
}
