import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { CredentialExchanger } from '../../core/auth.ts';
import type { SessionOwner } from '../../schemas/session.ts';
import { AuthCredential, type AuthConfig, authConfigFrom, publicAuthConfig } from './auth-config.ts';
import type { OAuthTask } from './oauth-grants.ts';
import { writtenCredential } from './written-credential.ts';

/**
 * Deals with AuthConfigs that a tool has put together by itself. A config that already has its authorization address
 * comes from a credential source, which keeps the client's secret to itself and trades the answer on its own. The OAuth
 * library is loaded when it is needed.
 */
export const credentialExchanger: CredentialExchanger = {
  async prepare(authConfig, owner, signal) {
    const config = authConfigFrom(authConfig);
    return publicAuthConfig(isPrepared(config) ? config : await prepared(config, owner, signal));
  },
  async exchange({ owner, authConfig, answer }, signal) {
    const config = authConfigFrom(authConfig);
    const given = answeredCredential(answer) ?? writtenCredential(answer, config);
    if (!given || isPrepared(config)) return given;
    return tradedCredential(config, given, owner, signal);
  },
};

const isPrepared = ({ exchangedAuthCredential }: AuthConfig): boolean =>
  exchangedAuthCredential?.oauth2?.authUri !== undefined;

/** With the address to visit, where the scheme has one. */
export async function prepared(config: AuthConfig, owner: SessionOwner, signal: AbortSignal): Promise<AuthConfig> {
  const task = oauthTask(config, owner);
  if (!task) return config;
  const { askForAccess } = await import('./oauth-grants.ts');
  const { authType } = config.rawAuthCredential ?? { authType: 'oauth2' as const };
  return { ...config, exchangedAuthCredential: { authType, oauth2: await askForAccess(task, signal) } };
}

/** The credential in an answer: tokens for a code, other credentials as they are. */
export async function tradedCredential(
  config: AuthConfig,
  given: AuthCredential,
  owner: SessionOwner,
  signal: AbortSignal,
): Promise<AuthCredential> {
  const task = oauthTask(config, owner);
  if (!task || !given.oauth2 || given.oauth2.accessToken !== undefined) return given;
  const { tradeAnswer } = await import('./oauth-grants.ts');
  return { authType: given.authType, oauth2: await tradeAnswer(task, given.oauth2, signal) };
}

/** What a client sends back: the completed AuthConfig, or just the credential. */
export function answeredCredential(answer: JsonObject): AuthCredential | undefined {
  const candidates = [
    answer['exchangedAuthCredential'] ?? answer['exchanged_auth_credential'],
    answer['rawAuthCredential'] ?? answer['raw_auth_credential'],
    answer,
  ];
  for (const candidate of candidates) {
    const credential = isJsonObject(candidate) ? AuthCredential.safeParse(candidate) : undefined;
    if (credential?.success) return credential.data;
  }
  return undefined;
}

/** What there is to do at an authorization server for a config; `undefined`: nothing, it is no OAuth. */
export function oauthTask(config: AuthConfig, owner: SessionOwner): OAuthTask | undefined {
  const { authScheme: scheme, credentialKey, rawAuthCredential } = config;
  if (scheme.type !== 'oauth2' && scheme.type !== 'openIdConnect') return undefined;
  return rawAuthCredential?.oauth2 && { scheme, credentialKey, owner, client: rawAuthCredential.oauth2 };
}
