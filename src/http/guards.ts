import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { AppError } from '../base/errors.ts';
import type { HttpConfig } from './deps.ts';
import { isUpgrade } from './live/accept.ts';

const maxQuoted = 200;
const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether only programs of this machine can connect to the address. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(?:\.\d+){3}$/.test(host);

/** Who may call: decides on a request's headers alone, before its body is read. */
export interface Guard {
  /** Throws `host_not_allowed` when the request was made under a name that is not ours (DNS rebinding). */
  checkHost(host: string | undefined): void;
  /** Throws `origin_not_allowed` when a page of another site makes the request. Programs send no origin. */
  checkOrigin(origin: string | undefined, host: string | undefined): void;
}

export function newGuard(config: HttpConfig): Guard {
  const names = new Set([...loopbackNames, ...config.allowHosts.map((name) => name.toLowerCase())]);
  if (isLoopback(config.host)) names.add(config.host.toLowerCase());
  const checksHost = isLoopback(config.host) || config.allowHosts.length > 0;
  const origins = new Set([...config.allowOrigins, ...(config.cors?.origins ?? [])].map(normalOrigin));
  return {
    checkHost(host) {
      // Browsers always send a host: what comes without (HTTP/1.0) is a program.
      if (!checksHost || host === undefined || names.has(nameIn(host))) return;
      throw new AppError(
        'host_not_allowed',
        `Host ${quoted(host)} is not allowed. Start the server with --allow-host ${shown(nameIn(host))} to accept it`,
      );
    },
    checkOrigin(origin, host) {
      if (origin === undefined || isSameOrigin(origin, host)) return;
      if (origin !== 'null' && (origins.has('*') || origins.has(normalOrigin(origin)))) return;
      const advice = origin === 'null' ? '' : `. Start the server with --allow-origin ${shown(origin)} to accept it`;
      throw new AppError('origin_not_allowed', `Origin ${quoted(origin)} is not allowed${advice}`);
    },
  };
}

/** The first hook of every request. `isClosing` turns new work away while the server drains. */
export function guardHook(guard: Guard, isClosing: () => boolean) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { headers, method } = request.raw;
    reply.header('x-content-type-options', 'nosniff');
    try {
      if (headers.host === undefined && request.raw.httpVersion === '1.1') {
        throw new AppError('invalid_request', 'The Host header is missing');
      }
      guard.checkHost(headers.host);
      // Any page may open a WebSocket to any server: that counts as new work, too.
      if ((method !== 'GET' && method !== 'HEAD') || isUpgrade(headers)) {
        guard.checkOrigin(headers.origin, headers.host);
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

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity') return;
  throw new AppError('unsupported_media_type', `Content-Encoding ${quoted(encoding)} is not supported`);
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  const from = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
  return from !== undefined && host !== undefined && from.toLowerCase() === host.toLowerCase();
}

/** The name in a Host header: without the port, in lower case. */
function nameIn(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

const normalOrigin = (origin: string): string => origin.replace(/\/$/, '').toLowerCase();

const shown = (text: string): string => text.slice(0, maxQuoted);
const quoted = (text: string): string => `"${shown(text)}"`;
