import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SessionOwner } from '../../schemas/session.ts';

/** Whom an authorization is asked for, with which client. */
export interface OAuthRequest {
  readonly owner: SessionOwner;
  readonly credentialKey: string;
  /** The client's secret; its id for a public client, which has none. */
  readonly key: string;
}

/**
 * A random `state` that proves for whom it was made. Nothing has to be kept between question and answer, so an answer
 * is good on another replica and after a restart, but not in another user's hands.
 */
export function newState(request: OAuthRequest): string {
  const nonce = randomBytes(16).toString('base64url');
  return `${nonce}.${seal('state', nonce, request)}`;
}

export function isOwnState(state: string, request: OAuthRequest): boolean {
  const [nonce = '', proof = ''] = state.split('.');
  const expected = seal('state', nonce, request);
  return proof.length === expected.length && timingSafeEqual(Buffer.from(proof), Buffer.from(expected));
}

/** The PKCE verifier that belongs to a state: 43 characters, not to be guessed without the client's secret. */
export const verifierFor = (state: string, request: OAuthRequest): string => seal('verifier', state, request);

function seal(purpose: string, text: string, { owner, credentialKey, key }: OAuthRequest): string {
  const about = JSON.stringify([purpose, text, owner.appName, owner.userId, credentialKey]);
  return createHmac('sha256', key).update(about).digest('base64url');
}
