import { isLoopback } from '../base/addresses.ts';
import { AppError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import { outboundFetch } from '../base/outbound-fetch.ts';
import type { Log } from '../core/log.ts';
import type { LoginIssuer } from '../http/login/login-issuer.ts';
import { type ClaimMapping, principalFrom } from '../identity/claims.ts';
import type { Config } from './config.ts';

/** For an issuer whose tokens are not accepted otherwise. */
const defaultClaims: ClaimMapping = { user: 'sub', defaultRoles: ['user'] };
const maxBytes = 1024 * 1024;

/**
 * The issuer at which users of the web UI log in; `undefined` if the settings name none. Its claims mean what `auth.jwt`
 * says of the same issuer. Throws `ConfigurationException` for settings that do not fit.
 */
export function loginIssuer(
  { login, jwt }: Config['auth'],
  { log, closing }: { readonly log: Pick<Log, 'warn'>; readonly closing: AbortSignal },
): LoginIssuer | undefined {
  const { issuer: url, clientId, clientSecret, scopes } = login;
  if (url === undefined) return undefined;
  if (clientId === undefined)
    throw new AppError('ConfigurationException', 'auth.login.issuer needs auth.login.clientId');
  const known = jwt.find(({ issuer }) => issuer === url);
  if (!known && jwt.length > 0) {
    throw new AppError(
      'ConfigurationException',
      'auth.login.issuer must be one of the issuers of auth.jwt, or there must be none: two issuers may give the same name to different users',
    );
  }
  const claims = known?.claims ?? defaultClaims;
  warnOfPlainHttp(url, log);
  // Loaded with the first login.
  const opened = lazily(async () => {
    const { OidcLogin } = await import('../tools/auth/oidc-login.ts');
    const outbound = outboundFetch({ named: [url], maxBytes });
    return new OidcLogin({ issuer: url, clientId, clientSecret, scopes }, outbound);
  });
  const until = (signal: AbortSignal): AbortSignal => AbortSignal.any([closing, signal]);
  return {
    url,
    start: async (redirectUri, signal) => (await opened()).start(redirectUri, until(signal)),
    finish: async (address, checks, signal) =>
      principalFrom(await (await opened()).finish(address, checks, until(signal)), url, claims),
  };
}

/** Warns of an issuer that is reached without encryption, unless it is on this machine. */
export function warnOfPlainHttp(place: string, log: Pick<Log, 'warn'>): void {
  const { protocol, hostname } = new URL(place);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  log.warn(
    { place },
    'the keys of an issuer are fetched without encryption: an attacker on the network can replace them',
  );
}
