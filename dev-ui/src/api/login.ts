import type { LoginMethods, Me } from '../../../src/schemas/login.ts';
import { addressOf, getJson, sendJson } from './server.ts';

export type { LoginMethods, Me };

/** Throws 401 when nobody is logged in. */
export const readMe = (signal?: AbortSignal): Promise<Me> => getJson('auth/me', signal);

export const readLoginMethods = (signal?: AbortSignal): Promise<LoginMethods> => getJson('auth/methods', signal);

/** The server answers with a cookie. Throws 401 for a key that does not count. */
export const loginByKey = (key: string): Promise<Me> => sendJson('POST', 'auth/login', { key });

export const logOut = (): Promise<null> => sendJson('POST', 'auth/logout', {});

/** Where the browser goes to log in at the issuer; afterwards it comes to `path`. */
export const issuerLoginAddress = (path: string): string =>
  `${addressOf('auth/login')}?${new URLSearchParams({ return: path })}`;
