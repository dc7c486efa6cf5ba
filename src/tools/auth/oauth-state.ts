import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SessionOwner } from '../../schemas/session.ts';

/** For whom an authorization is requested. */
export interface OAuthRequest {
  readonly owner: SessionOwner;
  readonly credentialKey: string;
  /** A secret of this server and its replicas. */
  readonly secret: string;
}

/** How long a user has to sign in, in seconds. */
const lifetimeSeconds = 3600;

/**
 * A random, signed `state` with its owner and time. Nothing is stored between request and answer, so another replica
 * accepts the answer, also after a restart, but not from another user.
 */
export function newState(request: OAuthRequest): string {
  const ends = Math.floor(Date.now() / 1000) + lifetimeSeconds;
  const text = `${randomBytes(16).toString('base64url')}.${ends.toString(36)}`;
  return `${text}.${seal('state', text, request)}`;
}

/** Whether the state was made for this request, has not expired and was not used. */
export function isOwnState(state: string, request: OAuthRequest): boolean {
  const [nonce = '', ends = '', proof = ''] = state.split('.');
  const expected = Buffer.from(seal('state', `${nonce}.${ends}`, request));
  const given = Buffer.from(proof); // of a length of its own: a client may send any characters
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  return isOurs && endOf(state) > Date.now() / 1000 && !usedStates.has(state);
}

/** Used states that have not expired, oldest first. Authorization servers reject the second use of a code, too. */
const usedStates = new Set<string>();

/** Marks a state as used: this process accepts one answer for it. */
export function markStateUsed(state: string): void {
  for (const old of usedStates) {
    if (endOf(old) > Date.now() / 1000) break;
    usedStates.delete(old);
  }
  usedStates.add(state);
}

const endOf = (state: string): number => Number.parseInt(state.split('.')[1] ?? '', 36);

/** The PKCE verifier of a state: 43 characters that cannot be guessed without the server's secret. */
export const verifierFor = (state: string, request: OAuthRequest): string => seal('verifier', state, request);

function seal(purpose: string, text: string, { owner, credentialKey, secret }: OAuthRequest): string {
  const about = JSON.stringify([purpose, text, owner.appName, owner.userId, credentialKey]);
  return createHmac('sha256', secret).update(about).digest('base64url');
}
