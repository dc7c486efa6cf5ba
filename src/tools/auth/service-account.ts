import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { lazily } from '../../base/lazily.ts';
import { nodeCrypto } from '../../base/node-crypto.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import { parseOptions } from '../options.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { OAuth2Auth, ServiceAccount } from './auth-config.ts';

const timeLimitMs = 30_000;
const lifetimeSeconds = 3600;

/** The members of a service account key file that are used. */
const keySchema = lazily(() =>
  z.looseObject({
    client_email: z.string().min(1),
    private_key: z.string().min(1),
    private_key_id: z.string().optional(),
    token_uri: z.url({ protocol: /^https?$/ }).default('https://oauth2.googleapis.com/token'),
  }),
);
type Key = z.infer<ReturnType<typeof keySchema>>;

const tokenAnswerSchema = lazily(() =>
  z.looseObject({
    access_token: z.string().optional(),
    id_token: z.string().optional(),
    expires_in: z.number().optional(),
  }),
);

/** A token for a Google service account, from its key or from the credential of this machine. */
export async function serviceAccountAccess(
  account: ServiceAccount,
  outbound: OutboundFetch,
  signal: AbortSignal,
): Promise<OAuth2Auth> {
  if (account.useIdToken && account.audience === undefined) {
    throw new AppError('ConfigurationException', 'A service account that uses ID tokens needs an audience');
  }
  return withTimeLimit({ signal, ms: timeLimitMs, what: 'The token server' }, (limited) => {
    if (isMachineAccount(account)) return machineAccess(account);
    const key = parseOptions('service account', keySchema(), account.serviceAccountCredential);
    return keyAccess(account, key, (url, init) => outbound(url, { ...init, signal: limited }));
  });
}

/** Whether the account is that of this machine's credential. */
export const isMachineAccount = (account: ServiceAccount): boolean =>
  account.useDefaultCredential || !account.serviceAccountCredential;

/** A token of the machine's credential, which Google's library finds and renews. */
async function machineAccess({ scopes, useIdToken, audience = '' }: ServiceAccount): Promise<OAuth2Auth> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({ scopes });
  if (useIdToken)
    return { accessToken: await (await auth.getIdTokenClient(audience)).idTokenProvider.fetchIdToken(audience) };
  const token = await auth.getAccessToken();
  if (!token) throw new AppError('unauthenticated', 'This machine has no Google credential');
  return { accessToken: token };
}

/** The JWT bearer grant (RFC 7523), at the token server that the key names. */
async function keyAccess(
  account: ServiceAccount,
  key: Key,
  ask: (url: string, init: RequestInit) => Promise<Response>,
): Promise<OAuth2Auth> {
  const response = await ask(key.token_uri, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertion(account, key),
    }),
  });
  const answer = tokenAnswerSchema().safeParse(await response.json().catch(() => undefined));
  const token = account.useIdToken ? answer.data?.id_token : answer.data?.access_token;
  if (!response.ok || token === undefined) {
    throw new AppError('unauthenticated', `The token server rejected "${key.client_email}" (${response.status})`);
  }
  const { expires_in = lifetimeSeconds } = answer.data ?? {};
  return { accessToken: token, expiresAt: Math.floor(Date.now() / 1000) + expires_in };
}

function assertion({ scopes, useIdToken, audience }: ServiceAccount, key: Key): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: key.client_email,
    sub: key.client_email,
    aud: key.token_uri,
    iat: now,
    exp: now + lifetimeSeconds,
    ...(useIdToken ? { target_audience: audience } : { scope: scopes.join(' ') }),
  };
  const header = { alg: 'RS256', typ: 'JWT', ...(key.private_key_id !== undefined && { kid: key.private_key_id }) };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${nodeCrypto().sign('sha256', Buffer.from(text), key.private_key).toString('base64url')}`;
}
