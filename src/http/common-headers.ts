import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * What every answer says, unless its route knows better: its request's id, that nothing may keep it or guess its type,
 * and that pages of other sites may not embed it (`isShared`: one that may read it asks).
 */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, isShared: boolean): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('cross-origin-resource-policy', isShared ? 'cross-origin' : 'same-origin');
  reply.header('cache-control', 'no-store');
}
