import {
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  refreshTokenGrant,
  ResponseBodyError,
  type TokenEndpointResponse,
} from 'openid-client';
import { AppError } from '../../base/errors.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { AuthScheme, OAuth2Auth } from './auth-config.ts';
import { type OAuthServer, oauthServer } from './oauth-server.ts';
import { isOwnState, newState, type OAuthRequest, markStateUsed, verifierFor } from './oauth-state.ts';

const timeLimitMs = 30_000;

/** A scheme, its client, and the owner of the credential. */
export interface OAuthTask extends OAuthRequest {
  readonly scheme: AuthScheme;
  readonly client: OAuth2Auth;
  readonly outbound: OutboundFetch;
}

/** The client with the authorization URL, where the user grants access. */
export function authorizationRequest(task: OAuthTask, signal: AbortSignal): Promise<OAuth2Auth> {
  return withOAuthServer(task, signal, async ({ configuration, scopes }) => {
    const { clientId, redirectUri, audience } = task.client;
    const state = newState(task);
    const address = buildAuthorizationUrl(configuration, {
      response_type: 'code',
      scope: scopes.join(' '),
      state,
      // Google needs these two for a refresh token; other servers ignore them.
      access_type: 'offline',
      prompt: 'consent',
      code_challenge: await calculatePKCECodeChallenge(verifierFor(state, task)),
      code_challenge_method: 'S256',
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
      ...(audience !== undefined && { audience }),
    });
    return { ...task.client, clientId, authUri: address.href, state };
  });
}

/** Exchanges the authorization server's answer for tokens. Throws `unauthenticated` for an invalid answer. */
export function exchangeCode(task: OAuthTask, answer: OAuth2Auth, signal: AbortSignal): Promise<OAuth2Auth> {
  return withOAuthServer(task, signal, async ({ configuration, isPlain }) => {
    const address = returnAddress(answer, task.client.redirectUri);
    if (isPlain) address.searchParams.delete('iss');
    const state = address.searchParams.get('state') ?? '';
    if (!isOwnState(state, task)) {
      const why = 'was requested by another user, came too late, or was used before';
      throw new AppError('unauthenticated', `The answer of the authorization server ${why}`);
    }
    if (address.searchParams.has('code')) markStateUsed(state);
    const checks = { expectedState: state, pkceCodeVerifier: verifierFor(state, task) };
    return tokensFrom(await authorizationCodeGrant(configuration, address, checks));
  });
}

/**
 * The URL that the user was redirected to, which clients send whole or in parts. Only its query is used: the rest is the
 * configured redirect URI, because it must equal the one in the authorization request.
 */
function returnAddress({ authResponseUri, redirectUri, authCode, state }: OAuth2Auth, configured?: string): URL {
  const text = authResponseUri ?? redirectUri ?? configured ?? '';
  if (!URL.canParse(text)) throw new AppError('unauthenticated', 'The answer has no redirect URI');
  const reported = new URL(text);
  const address = configured !== undefined && URL.canParse(configured) ? new URL(configured) : reported;
  if (address !== reported) for (const [key, value] of reported.searchParams) address.searchParams.set(key, value);
  if (authCode !== undefined && !address.searchParams.has('code')) address.searchParams.set('code', authCode);
  if (state !== undefined && !address.searchParams.has('state')) address.searchParams.set('state', state);
  return address;
}

/** Gets tokens for the client itself (client credentials grant). */
export function clientTokens(task: OAuthTask, signal: AbortSignal): Promise<OAuth2Auth> {
  return withOAuthServer(task, signal, async ({ configuration, scopes }) => {
    const { audience } = task.client;
    return tokensFrom(
      await clientCredentialsGrant(configuration, {
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        ...(audience !== undefined && { audience }),
      }),
    );
  });
}

/** Gets new tokens. Keeps the refresh token when the server sends no new one. */
export function refreshedTokens(task: OAuthTask, refreshToken: string, signal: AbortSignal): Promise<OAuth2Auth> {
  return withOAuthServer(task, signal, async ({ configuration }) => ({
    refreshToken,
    ...tokensFrom(await refreshTokenGrant(configuration, refreshToken)),
  }));
}

async function withOAuthServer<T>(
  task: OAuthTask,
  signal: AbortSignal,
  work: (server: OAuthServer) => Promise<T>,
): Promise<T> {
  return withTimeLimit({ signal, ms: timeLimitMs, what: 'The authorization server' }, async (limited) => {
    try {
      return await work(await oauthServer(task.scheme, task.client, { outbound: task.outbound, signal: limited }));
    } catch (error) {
      // The library wraps what its fetch throws.
      for (const cause of [error, error instanceof Error && error.cause]) if (cause instanceof AppError) throw cause;
      throw new AppError('unauthenticated', `The authorization server gave no access: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  });
}

/** The server's error text; the library's message only describes the library. */
function reasonOf(error: unknown): string {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    return error.error_description === undefined ? error.error : `${error.error} (${error.error_description})`;
  }
  return error instanceof Error ? error.message : String(error);
}

function tokensFrom({ access_token, refresh_token, expires_in }: TokenEndpointResponse): OAuth2Auth {
  return {
    accessToken: access_token,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(expires_in !== undefined && { expiresAt: Math.floor(Date.now() / 1000) + expires_in }),
  };
}
