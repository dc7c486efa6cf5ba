import type { CallerRequest } from '../../identity/authenticator.ts';

type Headers = CallerRequest['headers'];

/**
 * Whether the browser says that a page of this server, or a user at the address bar, makes the request. `undefined`: it
 * says nothing, as programs do, and browsers that read a page over plain http.
 */
export function isFromOwnPage(headers: Headers): boolean | undefined {
  const site = single(headers['sec-fetch-site']);
  const origin = single(headers['origin']);
  if (origin !== undefined && !isSameOrigin(origin, single(headers['host']))) return false;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin === undefined ? undefined : true;
}

/** Whether a page of this origin comes from the host that it calls. */
export function isSameOrigin(origin: string, host: string | undefined): boolean {
  const from = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
  return from !== undefined && host !== undefined && from.toLowerCase() === host.toLowerCase();
}

/** A header that was sent twice matches nothing. */
const single = (value: Headers[string]): string | undefined =>
  value === undefined || typeof value === 'string' ? value : '';
