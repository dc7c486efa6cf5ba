import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { firstGreedy, pathPattern } from './mount.ts';
import type { Operation } from './operation.ts';

/** Responds to requests without a route: 405 with `Allow` if another method matches, 204 with `Allow` to OPTIONS, else 404. */
export function unknownRoute(operations: readonly Operation[]) {
  let table: { readonly method: string; readonly path: string; readonly pattern: RegExp }[] | undefined;
  const isFirst = firstGreedy(operations);
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    table ??= operations.flatMap(({ method, paths }) =>
      paths.map((path) => ({ method, path, pattern: pathPattern(path) })),
    );
    const path = request.url.split('?', 1)[0] ?? '';
    const isServer = path === '*'; // OPTIONS asks what the server as a whole can do
    const methods = new Set(
      table.flatMap(({ method, path: template, pattern }) =>
        isServer || (pattern.test(path) && isFirst(template, path)) ? [method] : [],
      ),
    );
    if (methods.size === 0) throw new AppError('not_found', `No route ${request.method} ${path.slice(0, 200)}`);
    if (methods.has('GET')) methods.add('HEAD');
    reply.header('allow', [...methods, 'OPTIONS'].toSorted().join(', '));
    if (request.method === 'OPTIONS') return reply.code(204).send();
    throw new AppError('method_not_allowed', `${request.method} is not allowed here`);
  };
}
