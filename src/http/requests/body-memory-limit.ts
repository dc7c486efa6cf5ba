import type { FastifyReply, FastifyRequest } from 'fastify';
import { ByteBudget } from '../../base/byte-budget.ts';
import type { HttpConfig } from '../deps.ts';
import { clientSignal } from './client-signal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the body as a stream: it never holds it whole. */
    readonly streamsBody?: boolean;
  }
}

/** Bodies up to this size are not counted: the limit on connections limits their number. */
const smallBytes = 16 * 1024;

/**
 * A hook that limits the memory of all request bodies together. A request reserves the bytes of its body until it is
 * answered. While there are too few, the hook does not read the body, so its client has to wait.
 */
export function bodyMemoryLimiter({ bodiesLimitBytes, bodyLimitBytes: limitBytes }: HttpConfig) {
  const budget = new ByteBudget(bodiesLimitBytes, ['unavailable', 'Too many large requests at once']);
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const { headers } = request;
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : limitBytes;
    if (!(bytes > smallBytes) || bytes > limitBytes || request.routeOptions.config.streamsBody) {
      done(); // Fastify refuses a body above the limit without reading it
      return;
    }
    const onReserved = (): void => {
      if (reply.raw.destroyed) budget.release(bytes);
      else reply.raw.once('close', () => budget.release(bytes));
      done();
    };
    const waiting = budget.acquire(bytes, clientSignal(reply));
    if (waiting) waiting.then(onReserved, done);
    else onReserved();
  };
}
