import { AppError } from '../../base/errors.ts';
import type { AuthCredential, AuthScheme } from './auth-config.ts';

/** What a credential adds to an HTTP request. */
export interface RequestAdditions {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

const none: RequestAdditions = { headers: {}, query: {}, cookies: {} };

/** Adds a credential as the scheme requires. Throws ConfigurationException when the two do not fit. */
export function credentialAdditions(scheme: AuthScheme, credential: AuthCredential): RequestAdditions {
  if (scheme.type === 'apiKey') return apiKeyAdditions(scheme, credential);
  const { http, oauth2, apiKey } = credential;
  const username = http?.credentials.username;
  if (http && username !== undefined) {
    return authorization(`Basic ${Buffer.from(`${username}:${http.credentials.password ?? ''}`).toString('base64')}`);
  }
  const token = oauth2?.accessToken ?? http?.credentials.token ?? apiKey;
  if (token === undefined) {
    throw new AppError('ConfigurationException', `A credential of type "${credential.authType}" has no secret to send`);
  }
  const word = scheme.type === 'http' && scheme.scheme.toLowerCase() !== 'bearer' ? scheme.scheme : 'Bearer';
  return authorization(`${word} ${token}`);
}

const authorization = (value: string): RequestAdditions => ({ ...none, headers: { authorization: value } });

function apiKeyAdditions(
  { in: place, name }: Extract<AuthScheme, { type: 'apiKey' }>,
  { apiKey, http, authType }: AuthCredential,
): RequestAdditions {
  const key = apiKey ?? http?.credentials.token;
  if (key === undefined) {
    throw new AppError('ConfigurationException', `A credential of type "${authType}" is no API key for "${name}"`);
  }
  if (place === 'header') return { ...none, headers: { [name]: key } };
  return place === 'query' ? { ...none, query: { [name]: key } } : { ...none, cookies: { [name]: key } };
}
