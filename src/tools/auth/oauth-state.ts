import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SessionOwner } from '../../schemas/session.ts';

/** Whom an authorization is asked for. */
export interface OAuthRequest {
  readonly owner: SessionOwner;
  readonly credentialKey: string;
  /** What only this server knows, and the replicas beside it. */
  readonly secret: string;
}

/** How long a user has to sign in, in seconds. */
const lifetimeSeconds = 3600;

/**
 * A random `state` that proves for whom it was made, and when. Nothing has to be kept between question and answer, so an
 * answer is good on another replica and after a restart, but not in another user's hands.
 */
export function newState(request: OAuthRequest): string {
  const ends = Math.floor(Date.now() / 1000) + lifetimeSeconds;
  const text = `${randomBytes(16).toString('base64url')}.${ends.toString(36)}`;
  return `${text}.${seal('state', text, request)}`;
}

/** Whether the state was made for this request, is not too old, and was not spent. */
export function isOwnState(state: string, request: OAuthRequest): boolean {
  const [nonce = '', ends = '', proof = ''] = state.split('.');
  const expected = seal('state', `${nonce}.${ends}`, request);
  const isOurs = proof.length === expected.length && timingSafeEqual(Buffer.from(proof), Buffer.from(expected));
  return isOurs && endOf(state) > Date.now() / 1000 && !spent.has(state);
}

/** States that were answered and have not run out, oldest first. Authorization servers refuse the second use of a code, too. */
const spent = new Set<string>();

/** A state is good for one answer of this process. */
export function spendState(state: string): void {
  for (const old of spent) {
    if (endOf(old) > Date.now() / 1000) break;
    spent.delete(old);
  }
  spent.add(state);
}

const endOf = (state: string): number => Number.parseInt(state.split('.')[1] ?? '', 36);

/** The PKCE verifier that belongs to a state: 43 characters, not to be guessed without the server's secret. */
export const verifierFor = (state: string, request: OAuthRequest): string => seal('verifier', state, request);

function seal(purpose: string, text: string, { owner, credentialKey, secret }: OAuthRequest): string {
  const about = JSON.stringify([purpose, text, owner.appName, owner.userId, credentialKey]);
  return createHmac('sha256', secret).update(about).digest('base64url');
}
