import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';

const maxKeyLength = 255;

/** What percent-encoding leaves as it is. */
const plain = /^[\w.~-]+$/;

/** Sets `X-Run-Id`. Clients may choose ids, so they are percent-encoded. */
export function setRunIdHeader(reply: FastifyReply, runId: string): void {
  reply.header('x-run-id', plain.test(runId) ? runId : encodeURIComponent(runId));
}

/** The `Idempotency-Key` of a request that starts a run. Throws `invalid_request` for one that is blank or too long. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  const text = String(key).trim();
  if (text.length > 0 && text.length <= maxKeyLength) return text;
  throw new AppError('invalid_request', `Idempotency-Key: must have 1 to ${maxKeyLength} characters`);
}
