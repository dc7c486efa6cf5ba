import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../core/log.ts';
import type { HttpConfig } from './deps.ts';
import { foreignPageSecurityHeaders, pageSecurityHeaders } from './guards/content-security-policy.ts';

const ours = fileURLToPath(new URL('../../dist/dev-ui/', import.meta.url));
const prefix = '/dev-ui/';
/** The base tag of the built page, which its relative URLs refer to. */
const baseTag = '<base href="./" />';

/** The root of the built page, and how it learns that the server knows its callers. */
const rootTag = '<html lang="en">';
const rootTagKnown = '<html lang="en" data-callers="known">';

interface DevUiConfig extends Pick<HttpConfig, 'devUiDir'> {
  readonly callersKnown: boolean;
}

/** Serves the web UI under `/dev-ui/`: the built-in one, or one from another folder. */
export async function registerDevUi(app: FastifyInstance, config: DevUiConfig, log: Log): Promise<void> {
  const root = config.devUiDir === undefined ? ours : resolve(config.devUiDir);
  const html = await readFile(join(root, 'index.html'), 'utf8').catch(() => undefined);
  if (html === undefined) {
    const advice = config.devUiDir === undefined ? 'build it with npm run build' : 'the folder has no index.html';
    log.warn({ devUi: root }, `no web UI to serve: ${advice}`);
    return;
  }
  if (config.devUiDir === undefined)
    await serveOurs(app, root, config.callersKnown ? html.replace(rootTag, rootTagKnown) : html);
  else await serveForeign(app, root, html);
}

/** Serves precompressed files whose names change with their content, and one page for every address. */
async function serveOurs(app: FastifyInstance, root: string, html: string): Promise<void> {
  const headers = pageSecurityHeaders(html);
  await app.register(fastifyStatic, {
    root: join(root, 'assets'),
    prefix: `${prefix}assets/`,
    decorateReply: false,
    dotfiles: 'ignore',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  });
  const page = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '';
    if (!isPage(path)) {
      reply.callNotFound();
      return reply;
    }
    const text = pageAt(html, path);
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    reply.headers({ ...headers, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', etag });
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text);
  };
  app.get(prefix, page);
  app.get(`${prefix}*`, page);
}

/** Whether an address below `/dev-ui/` is one of the page's own; what has a dot in its first segment is a file. */
const isPage = (path: string): boolean =>
  /^\/dev-ui\/(?:[a-z-]+(?:\/|$)|$)/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path);

/** The page as it is at a path: its base leads back to `/dev-ui/`, below whatever a proxy puts in front. */
function pageAt(html: string, path: string): string {
  const depth = path.slice(prefix.length).split('/').length - 1;
  return html.replace(baseTag, `<base href="${depth === 0 ? './' : '../'.repeat(depth)}" />`);
}

/** Whether a request returns from a provider's sign-in in a pop-up window, which passes the result to its opener. */
const isSignInReturn = (url: string): boolean => /[?&]state=/.test(url) && /[?&](?:code|error)=/.test(url);

async function serveForeign(app: FastifyInstance, root: string, html: string): Promise<void> {
  const headers = foreignPageSecurityHeaders(html);
  await app.register(fastifyStatic, {
    root,
    prefix,
    decorateReply: false,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders(reply, path) {
      if (path.endsWith('.js')) reply.header('content-type', 'text/javascript; charset=utf-8');
      reply.header('cache-control', 'no-cache'); // may be kept, but is asked for again (ETag)
      reply.headers(headers);
      if (isSignInReturn(reply.request.url)) reply.removeHeader('cross-origin-opener-policy');
    },
  });
}
