import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import type { Principal } from '../core/principal.ts';

/** What an authenticator sees of a request. */
export interface CallerRequest {
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly url: string;
  /** By name in lower case. The values of a header that was sent more than once are a list, in `authorization` too. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The IP address of the socket's peer. No header changes it. Absent for a socket without one. */
  readonly remoteAddress: string | undefined;
}

/** Identifies the caller of a request. */
export interface Authenticator {
  /**
   * The principal, or `undefined` if the request has no credential of the kind that this authenticator knows. Throws
   * `unauthenticated` for a bad credential, and `unavailable` or `identity_provider_unavailable` if it cannot be checked
   * now. It rejects with the signal's reason when that aborts.
   */
  authenticate(request: CallerRequest, signal: AbortSignal): Promise<Principal | undefined>;
}

/** Tries the authenticators in order and returns the first principal. A bad credential ends the search. */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(request, signal) {
      for (const one of authenticators) {
        const principal = await one.authenticate(request, signal);
        if (principal) return principal;
      }
      return undefined;
    },
  };
}

/**
 * The error for any bad credential. The message says neither which part is wrong nor what the caller sent; the cause
 * is for the log.
 */
export const badCredential = (reason: string | Error): AppError =>
  new AppError('unauthenticated', 'The credential is not valid', {
    cause: typeof reason === 'string' ? new Error(reason) : reason,
  });

/** The value of a header. Throws `unauthenticated` if it was sent more than once: proxies disagree on which one counts. */
export function singleHeader(headers: CallerRequest['headers'], name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || typeof value === 'string') return value;
  throw badCredential(`The header "${name}" was sent ${value.length} times`);
}

const scheme = 'bearer ';

/** The token of an `Authorization: Bearer` header. */
export function bearerToken(headers: CallerRequest['headers']): string | undefined {
  const value = singleHeader(headers, 'authorization');
  if (value === undefined || value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  return value.slice(scheme.length).trim();
}

/** A request of Node's server as authenticators see it. Node itself drops or joins the values of repeated headers. */
export function callerRequestOf({ method = '', url = '', rawHeaders, socket }: IncomingMessage): CallerRequest {
  const headers = Object.create(null) as Record<string, string | string[]>;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const value = rawHeaders[at + 1] ?? '';
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
  }
  return { method, url, headers, remoteAddress: plainAddress(socket.remoteAddress) };
}

/** A socket that listens on IPv6 writes IPv4 addresses as `::ffff:10.0.0.1`. */
const plainAddress = (address: string | undefined): string | undefined => address?.replace(/^::ffff:(?=[\d.]+$)/i, '');
