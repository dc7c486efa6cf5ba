import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { HttpConfig, Log } from './deps.ts';
import { foreignPageHeaders, pageHeaders } from './page-policy.ts';

const ours = fileURLToPath(new URL('../../dev-ui/', import.meta.url));

/** Serves the user interface under `/dev-ui/`: ours, or one that was built elsewhere. */
export async function registerDevUi(app: FastifyInstance, config: HttpConfig, log: Log): Promise<void> {
  const root = config.devUiDir === undefined ? ours : resolve(config.devUiDir);
  const html = await readFile(join(root, 'index.html'), 'utf8').catch(() => undefined);
  if (html === undefined) {
    log.warn({ devUi: root }, 'no user interface to serve: the folder has no index.html');
    return;
  }
  const headers = config.devUiDir === undefined ? pageHeaders(html) : foreignPageHeaders(html);
  await app.register(fastifyStatic, {
    root,
    prefix: '/dev-ui/',
    decorateReply: false,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders(reply, path) {
      if (path.endsWith('.js')) reply.header('content-type', 'text/javascript; charset=utf-8');
      reply.header('cache-control', 'no-cache'); // may be kept, but is asked for again (ETag)
      reply.headers(headers);
    },
  });
}
