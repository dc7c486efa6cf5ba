import type { JWTPayload } from 'jose';
import { isJsonObject } from '../base/json.ts';
import type { Principal } from '../core/principal.ts';
import { nameFault } from '../schemas/names.ts';
import { badCredential } from './authenticator.ts';
import { type RoleMapping, rolesFor } from './role-mapping.ts';

/**
 * Which claims of a token say what. A claim inside of another one is written with dots (`realm_access.roles`); a name
 * that has dots itself (`https://example.com/roles`) is found as it is.
 */
export interface ClaimMapping extends RoleMapping {
  /** The claim that is the user's id. */
  readonly user: string;
  /** What the user's id begins with here, so that two issuers cannot name the same user. */
  readonly userPrefix?: string | undefined;
  /** A list of names, or a text with names between blanks or commas. */
  readonly roles?: string | undefined;
  readonly tenant?: string | undefined;
}

/** The caller whom a verified token describes. Throws `unauthenticated` if it names no user, or lacks the tenant. */
export function principalFrom(payload: JWTPayload, issuer: string, claims: ClaimMapping): Principal {
  const user = claimAt(payload, claims.user);
  if (typeof user !== 'string' || user === '') throw badCredential(`The token has no text in "${claims.user}"`);
  if (claims.user === 'email' && payload['email_verified'] === false) {
    throw badCredential('The e-mail address in the token is not verified');
  }
  const userId = `${claims.userPrefix ?? ''}${user}`;
  const fault = nameFault(userId);
  if (fault !== undefined) throw badCredential(`The user "${userId}" in the token ${fault}`);
  const tenant = claims.tenant === undefined ? undefined : claimAt(payload, claims.tenant);
  if (claims.tenant !== undefined && (typeof tenant !== 'string' || tenant === '')) {
    throw badCredential(`The token has no text in "${claims.tenant}"`);
  }
  const subject: unknown = payload.sub;
  return {
    id: `${issuer}|${typeof subject === 'string' ? subject : user}`,
    userId,
    actsForUsers: false,
    roles: rolesFor(claims.roles === undefined ? [] : namesIn(claimAt(payload, claims.roles)), claims),
    ...(typeof tenant === 'string' && { tenant }),
  };
}

function claimAt(payload: object, path: string): unknown {
  if (Object.hasOwn(payload, path)) return (payload as Record<string, unknown>)[path];
  let value: unknown = payload;
  for (const name of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function namesIn(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(/[\s,]+/);
  return Array.isArray(claim) ? claim.filter((name) => typeof name === 'string') : [];
}
