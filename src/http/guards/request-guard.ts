import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { isLoopback } from '../../base/addresses.ts';
import { AppError } from '../../base/errors.ts';
import type { HttpConfig } from '../deps.ts';
import { isSameOrigin } from '../login/own-page.ts';
import { setCommonHeaders } from './common-headers.ts';
import { isUpgrade } from './request-target.ts';

const maxQuoted = 200;
const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Who may call: decides on a request's headers alone, before its body is read. */
export interface Guard {
  /** Throws `host_not_allowed` if the Host header names another host than this server (DNS rebinding). */
  checkHost(host: string | undefined): void;
  /** Whether a page of this origin has the rights of the built-in web UI. */
  allowsOrigin(origin: string, host: string | undefined): boolean;
  /** Throws `origin_not_allowed` if a page of another site makes the request. Programs send no origin. */
  checkOrigin(request: IncomingMessage): void;
}

export function newGuard(config: HttpConfig): Guard {
  const names = new Set([...loopbackNames, ...config.allowHosts.map((name) => name.toLowerCase())]);
  if (isLoopback(config.host)) names.add(config.host.toLowerCase());
  const checksHost = isLoopback(config.host) || config.allowHosts.length > 0;
  const origins = new Set([...config.allowOrigins, ...(config.cors?.origins ?? [])].map(normalOrigin));
  const allowsOrigin: Guard['allowsOrigin'] = (origin, host) =>
    isSameOrigin(origin, host) || (origin !== 'null' && (origins.has('*') || origins.has(normalOrigin(origin))));
  return {
    checkHost(host) {
      // Browsers always send a host; a request without one (HTTP/1.0) comes from a program.
      if (!checksHost || host === undefined || names.has(nameIn(host))) return;
      throw new AppError(
        'host_not_allowed',
        `Host ${quoted(host)} is not allowed. Start the server with --allow-host ${shown(nameIn(host))} to accept it`,
      );
    },
    allowsOrigin,
    checkOrigin({ method = '', headers }) {
      const { origin, host } = headers;
      // Browsers let any page open a WebSocket to any server, so an upgrade does not count as reading.
      const reads = (method === 'GET' || method === 'HEAD') && !isUpgrade(headers);
      if (origin !== undefined && !reads && !allowsOrigin(origin, host)) {
        const advice = origin === 'null' ? '' : `. Start the server with --allow-origin ${shown(origin)} to accept it`;
        throw new AppError('origin_not_allowed', `Origin ${quoted(origin)} is not allowed${advice}`);
      }
      const site = headers['sec-fetch-site'];
      if (site === undefined || site === 'same-origin' || site === 'none' || origins.has('*')) return;
      if (origin !== undefined ? allowsOrigin(origin, host) : reads && isNavigation(headers)) return;
      const advice = 'Start the server with --allow-origin and the origin of the page to accept it';
      throw new AppError('origin_not_allowed', `A page of another site sent the request. ${advice}`);
    },
  };
}

/** Whether the browser navigates to the URL (a followed link), instead of embedding it in a page. */
const isNavigation = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && (headers['sec-fetch-dest'] ?? 'document') === 'document';

/** The first hook of every request. It refuses new work while `isClosing`. */
export function guardHook(guard: Guard, isClosing: () => boolean) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { raw } = request;
    const { headers, method } = raw;
    const isShared = headers.origin !== undefined && guard.allowsOrigin(headers.origin, headers.host);
    setCommonHeaders(request, reply, isShared);
    try {
      checkTarget(raw);
      guard.checkHost(headers.host);
      guard.checkOrigin(raw);
      if ((method !== 'GET' && method !== 'HEAD') || isUpgrade(headers)) {
        checkEncoding(headers['content-encoding']);
        if (isClosing()) throw new AppError('unavailable', 'The server is shutting down', { retryAfter: 5 });
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

/** A host name or address, and perhaps a port. */
const hostSyntax = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Throws `invalid_request` for an invalid or ambiguous target or host (RFC 9112, 3.2). */
function checkTarget({ url = '', method, headers, rawHeaders, httpVersion }: IncomingMessage): void {
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) {
    throw new AppError('invalid_request', 'The request target is not a path');
  }
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 0 && httpVersion === '1.1') throw new AppError('invalid_request', 'The Host header is missing');
  if (hosts > 1) throw new AppError('invalid_request', 'There is more than one Host header');
  if (headers.host !== undefined && !hostSyntax.test(headers.host)) {
    throw new AppError('invalid_request', `Host ${quoted(headers.host)} is not a host`);
  }
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity') return;
  throw new AppError('unsupported_media_type', `Content-Encoding ${quoted(encoding)} is not supported`);
}

/** The name in a Host header: without the port, in lower case. */
function nameIn(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

const normalOrigin = (origin: string): string => origin.replace(/\/$/, '').toLowerCase();

const shown = (text: string): string => text.slice(0, maxQuoted);
const quoted = (text: string): string => `"${shown(text)}"`;
