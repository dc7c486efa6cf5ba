import { AppError } from '../base/errors.ts';
import type { KeyStore } from '../core/key-store.ts';
import type { Log } from '../core/log.ts';
import type { LoginDeps } from '../http/login/login-deps.ts';
import { LoginSessions } from '../http/login/login-sessions.ts';
import { PendingLogins } from '../http/login/pending-logins.ts';
import { ApiKeys } from '../identity/api-keys.ts';
import { type AuthenticateFunction, authenticatorOf } from '../identity/authenticate-function.ts';
import { type Authenticator, firstOf } from '../identity/authenticator.ts';
import { JsonWebTokens } from '../identity/json-web-tokens.ts';
import { KeyFile } from '../identity/key-file.ts';
import { trustedProxy } from '../identity/trusted-proxy.ts';
import { type Databases, keyStoreAt } from '../services/open-services.ts';
import type { ServerSecret } from '../tools/auth/server-secret.ts';
import { databaseKeys } from './auth-config.ts';
import type { Config } from './config.ts';
import { loginIssuer, warnOfPlainHttp } from './login-issuer.ts';

export type AuthSettings = Pick<Config, 'auth' | 'sessionService'>;

export interface CallersOptions {
  /** Those of the services: keys may be beside the sessions. */
  readonly databases: Databases;
  readonly log: Log;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** The function of the program that embeds the server. It comes before all other ways. */
  readonly authenticate?: AuthenticateFunction | undefined;
  /** Seals the cookies of logins. */
  readonly secret: ServerSecret;
}

/** How the server knows its callers. */
export interface Callers {
  readonly authenticator: Authenticator;
  readonly login: LoginDeps;
}

/**
 * The ways to know callers that the settings name; `undefined` if they name none. The order: the program's own function,
 * API keys, tokens, the trusted proxy, the cookie of a login. Throws `ConfigurationException` for a key file that cannot be
 * used, and for a login that does not fit the other settings. Databases and issuers are reached with the first request that
 * needs them, so that the server starts while they are away.
 */
export async function openAuthenticator(
  { auth, sessionService }: AuthSettings,
  { databases, log, closing, authenticate, secret }: CallersOptions,
): Promise<Callers | undefined> {
  const authenticators: Authenticator[] = [];
  if (authenticate) authenticators.push(authenticatorOf(authenticate, log));
  const store = openKeyStore({ auth, sessionService }, { databases, log });
  if (store && auth.keys !== databaseKeys) await store.list();
  const keys = store && new ApiKeys(store);
  if (keys) authenticators.push(keys);
  if (auth.jwt.length > 0) {
    for (const { issuer, jwksUri = issuer } of auth.jwt) warnOfPlainHttp(jwksUri, log);
    authenticators.push(new JsonWebTokens({ issuers: auth.jwt, log, closing }));
  }
  if (auth.trustedProxy.addresses.length > 0) authenticators.push(trustedProxy(auth.trustedProxy));
  const issuer = loginIssuer(auth, { log, closing });
  if (authenticators.length === 0 && !issuer) return undefined;
  const { redirectUri, ttl: ttlMs } = auth.login;
  const isSecure = redirectUri?.startsWith('https:') ?? false;
  const sessions = new LoginSessions({ secret, keys, ttlMs, isSecure });
  const authenticator = firstOf([...authenticators, sessions]);
  const pending = new PendingLogins(secret);
  const login = { sessions, keys, redirectUri, issuer: issuer && { ...issuer, pending } };
  return { authenticator, login };
}

/** Where the settings keep API keys; `undefined` if nowhere. Throws `ConfigurationException` for a place that takes none. */
export function openKeyStore(
  { auth, sessionService }: AuthSettings,
  { databases, log }: Pick<CallersOptions, 'databases'> & { log: Pick<Log, 'warn'> },
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
