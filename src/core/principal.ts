import type { PrincipalLimits, Role } from '../schemas/principal.ts';

export type { PrincipalLimits, Role };

/** A caller and the caller's rights. It comes from the credential of a request, never from its path, query or body. */
export interface Principal {
  /**
   * Stable over requests, restarts and servers, and different for credentials of different kinds: `key:<key id>`,
   * `<issuer>|<subject>`, `proxy:<user>`, `custom:<id>`. Limits and the audit log use it.
   */
  readonly id: string;
  /** The user that the caller is. Absent: the caller is a program without a user of its own. */
  readonly userId?: string;
  /** Whether the caller may name any user in requests: for a backend that authenticates its users itself. */
  readonly actsForUsers: boolean;
  readonly roles: ReadonlySet<Role>;
  /** The apps that the caller may use. Absent: all. */
  readonly apps?: ReadonlySet<string>;
  readonly tenant?: string;
  readonly limits?: PrincipalLimits;
  /** When the credential expires, in milliseconds since the epoch. Connections of the caller must end then. */
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
 * - `admin`: keys and limits, and nothing else: a key that manages keys cannot read conversations.
 *
 * A caller that needs several of these has several roles.
 */
export function hasRole({ roles }: Pick<Principal, 'roles'>, role: Role): boolean {
  return including[role].some((one) => roles.has(one));
}
