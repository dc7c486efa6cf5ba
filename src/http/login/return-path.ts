import { AppError } from '../../base/errors.ts';

/** Only its path is used. */
const anyOrigin = 'http://any.invalid';

/**
 * Where a browser goes after its login: a path of this server, normalized. Throws `invalid_request` for everything that a
 * browser would take for another host, such as `//host`, `/\host` and `/..//host`.
 */
export function returnPath(text: string): string {
  const url = text.startsWith('/') ? URL.parse(text, anyOrigin) : null;
  if (url?.origin !== anyOrigin || url.pathname.startsWith('//')) {
    throw new AppError('invalid_request', '"return" must be a path of this server');
  }
  return url.pathname + url.search + url.hash;
}
