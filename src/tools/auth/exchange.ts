import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import type { CredentialExchanger, CredentialRequest } from '../../core/auth.ts';
import type { SessionOwner } from '../../schemas/session.ts';
import {
  type AuthConfig,
  authConfigFrom,
  type AuthCredential,
  credentialFrom,
  publicAuthConfig,
} from './auth-config.ts';
import type { OAuthTask } from './oauth-grants.ts';
import type { OAuthAccess } from './oauth-server.ts';
import { openSealed, processSecret, sealText, type ServerSecret } from './server-secret.ts';
import { credentialFromText } from './text-credential.ts';

/** The key in a stored AuthConfig for the encrypted one of the tool. */
const sealKey = 'sealed';

/**
 * Handles AuthConfigs that a tool has made itself. A config that already has an authorization URL comes from a
 * CredentialSource, which keeps the client's secret and exchanges the answer itself. The OAuth library is loaded on
 * first use.
 */
export function credentialExchanger(secret: ServerSecret = processSecret): CredentialExchanger {
  const ownConfig = async (request: CredentialRequest): Promise<AuthConfig | undefined> => {
    const sealed = request.authConfig[sealKey];
    const text = typeof sealed === 'string' ? openSealed(sealed, aboutOf(request), await secret()) : undefined;
    return text === undefined ? undefined : authConfigFrom(JSON.parse(text));
  };
  const contextOf = async (config: AuthConfig, owner: SessionOwner, signal: AbortSignal): Promise<OAuthContext> => ({
    owner,
    signal,
    secret: await secret(),
    outbound: outboundFor(addressesIn(config)),
  });
  return {
    secret,
    async seal(request) {
      const config = authConfigFrom(request.authConfig);
      const shown = publicAuthConfig(config);
      if (isPrepared(config) || !isOAuth(config)) return shown;
      return { ...shown, [sealKey]: sealText(JSON.stringify(config), aboutOf(request), await secret()) };
    },
    async prepare(request, signal) {
      const config = (await ownConfig(request)) ?? authConfigFrom(request.authConfig);
      if (isPrepared(config)) return publicAuthConfig(config);
      return publicAuthConfig(await withAuthorizationUri(config, await contextOf(config, request.owner, signal)));
    },
    async exchange({ answer, ...request }, signal) {
      const shown = authConfigFrom(request.authConfig);
      const given = credentialInAnswer(answer) ?? credentialFromText(answer, shown);
      if (!given || isPrepared(shown) || !isOAuth(shown) || given.oauth2?.accessToken !== undefined) return given;
      const config = await ownConfig(request);
      return config && exchangedCredential(config, given, await contextOf(config, request.owner, signal));
    },
  };
}

/** Binds a sealed config to one call of one user. Not to the session, because its forks have the same calls. */
const aboutOf = ({ owner: { appName, userId }, functionCallId }: CredentialRequest): string =>
  JSON.stringify(['auth config', appName, userId, functionCallId]);

const isOAuth = ({ authScheme: { type } }: AuthConfig): boolean => type === 'oauth2' || type === 'openIdConnect';

/** A fetch for authorization servers; `named` are the URLs that the author configured. */
export function outboundFor(named: readonly (string | undefined)[]): OutboundFetch {
  const load = lazily(async () => {
    const { outboundFetch } = await import('../../base/outbound-fetch.ts');
    return outboundFetch({ named, maxBytes: maxAnswerBytes });
  });
  return async (url, init) => (await load())(url, init);
}
const maxAnswerBytes = 1_000_000;

/** The URLs in a config. */
export function addressesIn({ authScheme, rawAuthCredential }: AuthConfig): (string | undefined)[] {
  const keyServer = rawAuthCredential?.serviceAccount?.serviceAccountCredential?.['token_uri'];
  const ofKey = typeof keyServer === 'string' ? [keyServer] : [];
  if (authScheme.type === 'openIdConnect') {
    return [authScheme.openIdConnectUrl, authScheme.authorizationEndpoint, authScheme.tokenEndpoint, ...ofKey];
  }
  if (authScheme.type !== 'oauth2') return ofKey;
  const flows = Object.values(authScheme.flows).flatMap((flow) => (isJsonObject(flow) ? [flow] : []));
  const addresses = flows.flatMap((flow) => [flow['authorizationUrl'], flow['tokenUrl'], flow['refreshUrl']]);
  return [...addresses.filter((address) => typeof address === 'string'), ...ofKey];
}

/** For whom a request to an authorization server is made, and how. */
export interface OAuthContext extends OAuthAccess {
  readonly owner: SessionOwner;
  readonly secret: string;
}

const isPrepared = ({ exchangedAuthCredential }: AuthConfig): boolean =>
  exchangedAuthCredential?.oauth2?.authUri !== undefined;

/** The config with the URL that the user has to visit, if the scheme has one. */
export async function withAuthorizationUri(config: AuthConfig, context: OAuthContext): Promise<AuthConfig> {
  const task = oauthTask(config, context);
  if (!task) return config;
  const { authorizationRequest } = await import('./oauth-grants.ts');
  const { authType } = config.rawAuthCredential ?? { authType: 'oauth2' as const };
  return { ...config, exchangedAuthCredential: { authType, oauth2: await authorizationRequest(task, context.signal) } };
}

/** The credential in an answer. Exchanges a code for tokens; other credentials stay unchanged. */
export async function exchangedCredential(
  config: AuthConfig,
  given: AuthCredential,
  context: OAuthContext,
): Promise<AuthCredential> {
  const task = oauthTask(config, context);
  if (!task || !given.oauth2 || given.oauth2.accessToken !== undefined) return given;
  const { exchangeCode } = await import('./oauth-grants.ts');
  return { authType: given.authType, oauth2: await exchangeCode(task, given.oauth2, context.signal) };
}

/** The credential that a client sent: in a completed AuthConfig, or by itself. */
export function credentialInAnswer(answer: JsonObject): AuthCredential | undefined {
  const candidates = [
    answer['exchangedAuthCredential'] ?? answer['exchanged_auth_credential'],
    answer['rawAuthCredential'] ?? answer['raw_auth_credential'],
    answer,
  ];
  for (const candidate of candidates) {
    const credential = isJsonObject(candidate) ? credentialFrom(candidate) : undefined;
    if (credential) return credential;
  }
  return undefined;
}

/** What requests to the config's authorization server need. `undefined` when the scheme is not OAuth. */
export function oauthTask(config: AuthConfig, context: Omit<OAuthContext, 'signal'>): OAuthTask | undefined {
  const { authScheme: scheme, credentialKey, rawAuthCredential } = config;
  if (scheme.type !== 'oauth2' && scheme.type !== 'openIdConnect') return undefined;
  return rawAuthCredential?.oauth2 && { scheme, credentialKey, client: rawAuthCredential.oauth2, ...context };
}
