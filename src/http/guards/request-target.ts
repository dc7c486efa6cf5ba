import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const absolute = /^https?:\/\/([^/?#]*)([^]*)$/i;

/**
 * The request target in origin form, `/path?query`. The host of a target in absolute form replaces the Host header
 * (RFC 9112, 3.2.2).
 */
export function originForm({ url = '/', headers }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  const [, host, rest = ''] = absolute.exec(url) ?? [];
  if (host === undefined) return url;
  headers.host = host;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Whether a request asks to become a WebSocket. Others ask for protocols that the server does not support (Java's client
 * for HTTP/2) and accept a plain response.
 */
export const isUpgrade = ({ upgrade }: IncomingHttpHeaders): boolean => upgrade?.toLowerCase() === 'websocket';
