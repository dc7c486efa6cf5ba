import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  type CustomFetchOptions,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import { isLoopback } from '../../base/addresses.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import { type AuthScheme, type OAuth2Auth, scopeNames } from './auth-config.ts';

/** An OAuth 2 client at its authorization server, with its scopes and grant type. */
export interface OAuthServer {
  readonly configuration: Configuration;
  readonly scopes: readonly string[];
  readonly grant: 'code' | 'clientCredentials';
  /** Plain OAuth 2: there is no issuer to check answers against. */
  readonly isPlain: boolean;
}

/** How requests to the server are made. */
export interface OAuthAccess {
  readonly outbound: OutboundFetch;
  readonly signal: AbortSignal;
}

/**
 * The authorization server of a scheme. Uses the network for OpenID Connect discovery. Requests with the returned
 * configuration stop when the signal aborts. Throws ConfigurationException.
 */
export async function oauthServer(scheme: AuthScheme, client: OAuth2Auth, access: OAuthAccess): Promise<OAuthServer> {
  if (client.clientId === undefined)
    throw new AppError('ConfigurationException', 'An OAuth credential needs a clientId');
  if (scheme.type === 'openIdConnect') return openIdServer(scheme, client, access);
  if (scheme.type !== 'oauth2') {
    throw new AppError('ConfigurationException', `An OAuth credential does not fit a scheme of type "${scheme.type}"`);
  }
  const { authorizationCode, clientCredentials } = scheme.flows;
  const flow = authorizationCode ?? clientCredentials;
  if (!flow?.tokenUrl) {
    throw new AppError(
      'ConfigurationException',
      'OAuth needs an authorizationCode or clientCredentials flow with a tokenUrl',
    );
  }
  const metadata = {
    issuer: new URL(flow.tokenUrl).origin,
    token_endpoint: flow.tokenUrl,
    ...(flow.authorizationUrl && { authorization_endpoint: flow.authorizationUrl }),
  };
  return {
    configuration: configurationOf(metadata, client, plainFetch(access)),
    scopes: scopeNames(flow.scopes),
    grant: authorizationCode ? 'code' : 'clientCredentials',
    isPlain: true,
  };
}

async function openIdServer(
  scheme: Extract<AuthScheme, { type: 'openIdConnect' }>,
  client: OAuth2Auth,
  access: OAuthAccess,
): Promise<OAuthServer> {
  const { openIdConnectUrl, authorizationEndpoint, tokenEndpoint } = scheme;
  const scopes = scopeNames(scheme.scopes ?? ['openid']);
  if (tokenEndpoint !== undefined && authorizationEndpoint !== undefined) {
    const metadata = {
      issuer: new URL(tokenEndpoint).origin,
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
    };
    return {
      configuration: configurationOf(metadata, client, plainFetch(access)),
      scopes,
      grant: 'code',
      isPlain: true,
    };
  }
  if (openIdConnectUrl === undefined) {
    throw new AppError('ConfigurationException', 'OpenID Connect needs an openIdConnectUrl, or both of its endpoints');
  }
  const server = new URL(openIdConnectUrl);
  const found = await discovery(server, client.clientId ?? '', undefined, undefined, {
    [customFetch]: boundFetch(access),
    execute: isLoopback(server.hostname) ? [allowInsecureRequests] : [],
  });
  return {
    configuration: configurationOf(found.serverMetadata(), client, boundFetch(access)),
    scopes,
    grant: 'code',
    isPlain: false,
  };
}

type Fetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

function configurationOf(metadata: ServerMetadata, client: OAuth2Auth, fetcher: Fetch): Configuration {
  const { clientId = '', clientSecret } = client;
  const configuration = new Configuration(metadata, clientId, clientSecret, clientAuthentication(client));
  configuration[customFetch] = fetcher;
  if (metadata.token_endpoint !== undefined && isLoopback(new URL(metadata.token_endpoint).hostname)) {
    // All other servers must use https.
    allowInsecureRequests(configuration);
  }
  return configuration;
}

function clientAuthentication({ clientSecret, tokenEndpointAuthMethod }: OAuth2Auth): ClientAuth {
  if (clientSecret === undefined || tokenEndpointAuthMethod === 'none') return None();
  return tokenEndpointAuthMethod === 'client_secret_basic'
    ? ClientSecretBasic(clientSecret)
    : ClientSecretPost(clientSecret);
}

const boundFetch =
  ({ outbound, signal }: OAuthAccess): Fetch =>
  (url, options) =>
    // Replaces the library's signal, which is only a time limit; ours has one, too.
    outbound(url, { ...options, signal });

/**
 * For servers known by their endpoints only. Some add an ID token, which is not needed and cannot be checked without an
 * issuer; some omit `token_type`, which can only be bearer.
 */
const plainFetch =
  (access: OAuthAccess): Fetch =>
  async (url, options) => {
    const response = await boundFetch(access)(url, options);
    if (!response.ok) return response;
    const text = await response.text();
    const { status, headers } = response;
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return new Response(text, { status, headers });
    }
    if (!isJsonObject(body)) return new Response(text, { status, headers });
    const { id_token: _, ...token } = body;
    return Response.json({ token_type: 'bearer', ...token }, { status });
  };
