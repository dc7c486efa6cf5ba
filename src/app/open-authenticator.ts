import { isLoopback } from '../base/addresses.ts';
import { AppError } from '../base/errors.ts';
import type { KeyStore } from '../core/key-store.ts';
import type { Log } from '../core/log.ts';
import { ApiKeys } from '../identity/api-keys.ts';
import { type AuthenticateFunction, authenticatorOf } from '../identity/authenticate-function.ts';
import { type Authenticator, firstOf } from '../identity/authenticator.ts';
import { JsonWebTokens } from '../identity/json-web-tokens.ts';
import { KeyFile } from '../identity/key-file.ts';
import { trustedProxy } from '../identity/trusted-proxy.ts';
import { type Databases, keyStoreAt } from '../services/open-services.ts';
import { databaseKeys } from './auth-config.ts';
import type { Config } from './config.ts';

export type AuthSettings = Pick<Config, 'auth' | 'sessionService'>;

export interface AuthenticatorOptions {
  /** Those of the services: keys may be beside the sessions. */
  readonly databases: Databases;
  readonly log: Log;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** The function of the program that embeds the server. It comes before all other ways. */
  readonly authenticate?: AuthenticateFunction | undefined;
}

/**
 * The ways to know callers that the settings name; `undefined` if they name none. The order: the program's own function,
 * API keys, tokens, the trusted proxy. Throws `ConfigurationException` for a key file that cannot be used. Databases and
 * issuers are reached with the first request that needs them, so that the server starts while they are away.
 */
export async function openAuthenticator(
  { auth, sessionService }: AuthSettings,
  { databases, log, closing, authenticate }: AuthenticatorOptions,
): Promise<Authenticator | undefined> {
  const authenticators: Authenticator[] = [];
  if (authenticate) authenticators.push(authenticatorOf(authenticate, log));
  const keys = openKeyStore({ auth, sessionService }, { databases, log });
  if (keys) {
    if (auth.keys !== databaseKeys) await keys.list();
    authenticators.push(new ApiKeys(keys));
  }
  if (auth.jwt.length > 0) {
    for (const { issuer, jwksUri = issuer } of auth.jwt) warnOfPlainHttp(jwksUri, log);
    authenticators.push(new JsonWebTokens({ issuers: auth.jwt, log, closing }));
  }
  if (auth.trustedProxy.addresses.length > 0) authenticators.push(trustedProxy(auth.trustedProxy));
  return authenticators.length > 0 ? firstOf(authenticators) : undefined;
}

/** Where the settings keep API keys; `undefined` if nowhere. Throws `ConfigurationException` for a place that takes none. */
export function openKeyStore(
  { auth, sessionService }: AuthSettings,
  { databases, log }: Pick<AuthenticatorOptions, 'databases'> & { log: Pick<Log, 'warn'> },
): KeyStore | undefined {
  if (auth.keys === undefined) return undefined;
  if (auth.keys !== databaseKeys) return new KeyFile({ path: auth.keys, log });
  const store = keyStoreAt(sessionService, databases);
  if (store) return store;
  throw new AppError(
    'ConfigurationException',
    'API keys can be kept in the database of the sessions if that is SQLite or PostgreSQL (--session-service); name a file otherwise (--auth-keys FILE)',
  );
}

function warnOfPlainHttp(place: string, log: Pick<Log, 'warn'>): void {
  const { protocol, hostname } = new URL(place);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  log.warn(
    { place },
    'the keys of an issuer are fetched without encryption: an attacker on the network can replace them',
  );
}
