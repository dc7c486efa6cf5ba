import type { FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, errorText } from '../../base/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Principal } from '../../core/principal.ts';

const refusals: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'forbidden',
  'app_state_not_allowed',
  'import_not_allowed',
]);

/** Lines per second, and as many again in a burst: a caller who guesses credentials must not fill the disk. */
const linesPerSecond = 20;
const maxPathLength = 200;

/**
 * Logs each refusal in one line: who, what, from where, and the id of the request; never a credential. It leaves out lines
 * above the rate, and the next line says how many (`unlogged`). `clock`: milliseconds that only grow.
 */
export function refusalLog(log: Pick<Log, 'warn'>, clock: () => number = () => performance.now()) {
  let allowance = linesPerSecond * 2;
  let countedAtMs = clock();
  let unlogged = 0;
  return (error: unknown, request: FastifyRequest, principal: Principal | undefined): void => {
    if (!(error instanceof AppError) || !refusals.has(error.code)) return;
    const nowMs = clock();
    allowance = Math.min(linesPerSecond * 2, allowance + ((nowMs - countedAtMs) / 1_000) * linesPerSecond);
    countedAtMs = nowMs;
    if (allowance < 1) {
      unlogged += 1;
      return;
    }
    allowance -= 1;
    log.warn(
      {
        audit: 'refused',
        code: error.code,
        ...(principal && { principal: principal.id }),
        ...(principal?.userId !== undefined && { userId: principal.userId }),
        method: request.method,
        path: request.url.split('?', 1)[0]?.slice(0, maxPathLength),
        from: request.raw.socket.remoteAddress,
        requestId: request.id,
        reason: errorText(error.cause ?? error),
        ...(unlogged > 0 && { unlogged }),
      },
      'request refused',
    );
    unlogged = 0;
  };
}
