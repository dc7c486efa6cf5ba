import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Sets the headers of every response, which routes may override: the request id, no caching, no type sniffing, and no
 * embedding by pages of other sites (`isShared`: the page's origin is allowed).
 */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, isShared: boolean): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('cross-origin-resource-policy', isShared ? 'cross-origin' : 'same-origin');
  reply.header('cache-control', 'no-store');
}
