import type { IncomingMessage } from 'node:http';

const absolute = /^https?:\/\/([^/?#]*)([^]*)$/i;

/**
 * The target of a request in origin form, `/path?query`. Of one in absolute form the host counts, whatever the Host
 * header says (RFC 9112, 3.2.2).
 */
export function originForm({ url = '/', headers }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  const [, host, rest = ''] = absolute.exec(url) ?? [];
  if (host === undefined) return url;
  headers.host = host;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
