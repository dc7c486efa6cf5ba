import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { nodeCrypto } from '../../base/node-crypto.ts';
import { lenient } from '../../schemas/lenient.ts';
import { parseOptions } from '../options.ts';

const schemas = lazily(() => {
  /** Names with descriptions, as in OpenAPI, or names only. */
  const scopes = z.union([z.record(z.string(), z.unknown()), z.array(z.string())]);
  const flow = lenient({
    authorizationUrl: z.string().optional(),
    tokenUrl: z.string().optional(),
    refreshUrl: z.string().optional(),
    scopes: scopes.default({}),
  });
  const authScheme = z.union([
    lenient({ type: z.literal('apiKey'), in: z.enum(['query', 'header', 'cookie']), name: z.string().min(1) }),
    lenient({ type: z.literal('http'), scheme: z.string().min(1), bearerFormat: z.string().optional() }),
    lenient({
      type: z.literal('oauth2'),
      flows: lenient({
        authorizationCode: flow.optional(),
        clientCredentials: flow.optional(),
        implicit: flow.optional(),
        password: flow.optional(),
      }),
    }),
    lenient({
      type: z.literal('openIdConnect'),
      openIdConnectUrl: z.string().optional(),
      authorizationEndpoint: z.string().optional(),
      tokenEndpoint: z.string().optional(),
      scopes: scopes.optional(),
    }),
  ]);
  const oauth2 = lenient({
    clientId: z.string().optional(),
    clientSecret: z.string().optional(),
    authUri: z.string().optional(),
    state: z.string().optional(),
    redirectUri: z.string().optional(),
    authResponseUri: z.string().optional(),
    authCode: z.string().optional(),
    accessToken: z.string().optional(),
    refreshToken: z.string().optional(),
    /** Seconds since the epoch. */
    expiresAt: z.number().optional(),
    audience: z.string().optional(),
    tokenEndpointAuthMethod: z.enum(['client_secret_post', 'client_secret_basic', 'none']).optional(),
  });
  const serviceAccount = lenient({
    /** The JSON of a service account key. */
    serviceAccountCredential: z.record(z.string(), z.unknown()).optional(),
    scopes: z.array(z.string()).default(['https://www.googleapis.com/auth/cloud-platform']),
    /** Uses the Google credential of this machine. */
    useDefaultCredential: z.boolean().default(false),
    /** An ID token for `audience` instead of an access token. */
    useIdToken: z.boolean().default(false),
    audience: z.string().optional(),
  });
  const authCredential = lenient({
    authType: z.enum(['apiKey', 'http', 'oauth2', 'openIdConnect', 'serviceAccount']),
    apiKey: z.string().optional(),
    http: lenient({
      scheme: z.string().default('bearer'),
      credentials: lenient({
        username: z.string().optional(),
        password: z.string().optional(),
        token: z.string().optional(),
      }),
    }).optional(),
    oauth2: oauth2.optional(),
    serviceAccount: serviceAccount.optional(),
  });
  const authConfig = lenient({
    authScheme,
    rawAuthCredential: authCredential.optional(),
    exchangedAuthCredential: authCredential.optional(),
    credentialKey: z.string().min(1).optional(),
  });
  return { scopes, authScheme, oauth2, serviceAccount, authCredential, authConfig };
});
type Schemas = ReturnType<typeof schemas>;

export type Scopes = z.infer<Schemas['scopes']>;
/** How a service takes a credential: an OpenAPI 3 security scheme, or OpenID Connect with its endpoints. */
export type AuthScheme = z.infer<Schemas['authScheme']>;
export type OAuth2Auth = z.infer<Schemas['oauth2']>;
export type ServiceAccount = z.infer<Schemas['serviceAccount']>;
/** A credential in ADK's shape. */
export type AuthCredential = z.infer<Schemas['authCredential']>;
export type AuthConfig = z.infer<Schemas['authConfig']> & { readonly credentialKey: string };

export const scopeNames = (scopes: Scopes): readonly string[] => (Array.isArray(scopes) ? scopes : Object.keys(scopes));

/** The credential that a value is; `undefined` if it is none. */
export const credentialFrom = (value: unknown): AuthCredential | undefined =>
  schemas().authCredential.safeParse(value).data;

/** Parses an AuthConfig and adds a key if it has none. Throws ConfigurationException. */
export function authConfigFrom(value: unknown): AuthConfig {
  const config = parseOptions('authentication', schemas().authConfig, value);
  return { ...config, credentialKey: config.credentialKey ?? keyFor(config) };
}

/** Equal schemes and clients share a credential. The key contains no secrets, because events show it. */
function keyFor({ authScheme, rawAuthCredential }: z.infer<Schemas['authConfig']>): string {
  const about = JSON.stringify([authScheme, rawAuthCredential?.authType, rawAuthCredential?.oauth2?.clientId]);
  return `adk_${nodeCrypto().createHash('sha256').update(about).digest('hex').slice(0, 24)}`;
}

/** The AuthConfig without secrets: nothing in it lets a reader act as the client or the account. */
export function publicAuthConfig(config: AuthConfig): JsonObject {
  return {
    ...config,
    ...(config.rawAuthCredential && { rawAuthCredential: publicCredential(config.rawAuthCredential) }),
    ...(config.exchangedAuthCredential && {
      exchangedAuthCredential: publicCredential(config.exchangedAuthCredential),
    }),
  };
}

function publicCredential({ authType, oauth2 }: AuthCredential): JsonObject {
  if (!oauth2) return { authType };
  const { clientId, authUri, state, redirectUri, audience } = oauth2;
  const shown = { clientId, authUri, state, redirectUri, audience };
  return { authType, oauth2: Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)) };
}
