import type { PrincipalLimits, Role } from '../schemas/principal.ts';

export type { PrincipalLimits, Role };

/** Who makes a request, and what he may do. Made from his credential, never from a path, a query or a body. */
export interface Principal {
  /**
   * Stable over requests, restarts and servers, and different for credentials of different kinds: `key:<key id>`,
   * `<issuer>|<subject>`, `proxy:<user>`. Limits and the audit log count by it.
   */
  readonly id: string;
  /** The user he is. Absent: a program that is no user itself. */
  readonly userId?: string;
  /** Whether he may name any user in his requests, as a backend does that signs its users in itself. */
  readonly actsForUsers: boolean;
  readonly roles: ReadonlySet<Role>;
  /** The apps he may use. Absent: all. */
  readonly apps?: ReadonlySet<string>;
  readonly tenant?: string;
  readonly limits?: PrincipalLimits;
  /** When his credential expires, in milliseconds since the epoch. A connection that lives longer must end then. */
  readonly expiresAt?: number;
}

/** The roles that include each role. */
const including: Readonly<Record<Role, readonly Role[]>> = {
  user: ['user', 'operator', 'developer'],
  operator: ['operator'],
  developer: ['developer'],
  admin: ['admin'],
};

/**
 * Whether the principal may do what a role allows. The only place that says which roles include others:
 *
 * - `user`: own sessions and runs.
 * - `operator`: sessions, runs and traces of all users, and what a `user` may do.
 * - `developer`: tools alone, the builder, evaluations and replay, and what a `user` may do; no sessions of others.
 * - `admin`: keys and limits, and nothing else: a key that manages keys reads no conversation.
 *
 * Who is to do several of these has several roles.
 */
export function hasRole({ roles }: Pick<Principal, 'roles'>, role: Role): boolean {
  return including[role].some((one) => roles.has(one));
}
