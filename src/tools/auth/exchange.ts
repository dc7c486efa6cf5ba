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
import { writtenCredential } from './written-credential.ts';

/** Where a stored AuthConfig holds the one the tool asked with. */
const sealKey = 'sealed';

/**
 * Deals with AuthConfigs that a tool has put together by itself. A config that already has its authorization address
 * comes from a credential source, which keeps the client's secret to itself and trades the answer on its own. The OAuth
 * library is loaded when it is needed.
 */
export function credentialExchanger(secret: ServerSecret = processSecret): CredentialExchanger {
  const ownConfig = async (request: CredentialRequest): Promise<AuthConfig | undefined> => {
    const sealed = request.authConfig[sealKey];
    const text = typeof sealed === 'string' ? openSealed(sealed, aboutOf(request), await secret()) : undefined;
    return text === undefined ? undefined : authConfigFrom(JSON.parse(text));
  };
  const settingOf = async (config: AuthConfig, owner: SessionOwner, signal: AbortSignal): Promise<OAuthSetting> => ({
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
      return publicAuthConfig(await prepared(config, await settingOf(config, request.owner, signal)));
    },
    async exchange({ answer, ...request }, signal) {
      const shown = authConfigFrom(request.authConfig);
      const given = answeredCredential(answer) ?? writtenCredential(answer, shown);
      if (!given || isPrepared(shown) || !isOAuth(shown) || given.oauth2?.accessToken !== undefined) return given;
      const config = await ownConfig(request);
      return config && tradedCredential(config, given, await settingOf(config, request.owner, signal));
    },
  };
}

/** What a seal is good for: this call of this user. Forks of the session have the same calls. */
const aboutOf = ({ owner: { appName, userId }, functionCallId }: CredentialRequest): string =>
  JSON.stringify(['auth config', appName, userId, functionCallId]);

const isOAuth = ({ authScheme: { type } }: AuthConfig): boolean => type === 'oauth2' || type === 'openIdConnect';

/** The way to authorization servers that the author named. */
export function outboundFor(named: readonly (string | undefined)[]): OutboundFetch {
  const load = lazily(async () => {
    const { outboundFetch } = await import('../../base/outbound-fetch.ts');
    return outboundFetch({ named, maxBytes: maxAnswerBytes });
  });
  return async (url, init) => (await load())(url, init);
}
const maxAnswerBytes = 1_000_000;

/** The addresses a config names. */
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

/** For whom an authorization server is asked, and how. */
export interface OAuthSetting extends OAuthAccess {
  readonly owner: SessionOwner;
  readonly secret: string;
}

const isPrepared = ({ exchangedAuthCredential }: AuthConfig): boolean =>
  exchangedAuthCredential?.oauth2?.authUri !== undefined;

/** With the address to visit, where the scheme has one. */
export async function prepared(config: AuthConfig, setting: OAuthSetting): Promise<AuthConfig> {
  const task = oauthTask(config, setting);
  if (!task) return config;
  const { askForAccess } = await import('./oauth-grants.ts');
  const { authType } = config.rawAuthCredential ?? { authType: 'oauth2' as const };
  return { ...config, exchangedAuthCredential: { authType, oauth2: await askForAccess(task, setting.signal) } };
}

/** The credential in an answer: tokens for a code, other credentials as they are. */
export async function tradedCredential(
  config: AuthConfig,
  given: AuthCredential,
  setting: OAuthSetting,
): Promise<AuthCredential> {
  const task = oauthTask(config, setting);
  if (!task || !given.oauth2 || given.oauth2.accessToken !== undefined) return given;
  const { tradeAnswer } = await import('./oauth-grants.ts');
  return { authType: given.authType, oauth2: await tradeAnswer(task, given.oauth2, setting.signal) };
}

/** What a client sends back: the completed AuthConfig, or just the credential. */
export function answeredCredential(answer: JsonObject): AuthCredential | undefined {
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

/** What there is to do at an authorization server for a config; `undefined`: nothing, it is no OAuth. */
export function oauthTask(config: AuthConfig, setting: Omit<OAuthSetting, 'signal'>): OAuthTask | undefined {
  const { authScheme: scheme, credentialKey, rawAuthCredential } = config;
  if (scheme.type !== 'oauth2' && scheme.type !== 'openIdConnect') return undefined;
  return rawAuthCredential?.oauth2 && { scheme, credentialKey, client: rawAuthCredential.oauth2, ...setting };
}
