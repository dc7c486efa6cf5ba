import type { FastifyReply } from 'fastify';
import { AppError } from '../../base/errors.ts';

/** A signal that aborts with `run_cancelled` when the client closes the connection before the response is complete. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!raw.writableEnded) controller.abort(new AppError('run_cancelled', 'The client left'));
  };
  raw.once('close', leave);
  if (raw.destroyed) leave();
  return controller.signal;
}
