import type { Role } from '../core/principal.ts';
import { Role as RoleName } from '../schemas/principal.ts';

/** How the groups or roles of an identity provider become ours. */
export interface RoleMapping {
  /** Our roles by the provider's names. Absent: a name that equals one of our roles stands for it. */
  readonly rolesMap?: Readonly<Record<string, readonly Role[]>> | undefined;
  /** Roles that every caller has in addition. */
  readonly defaultRoles: readonly Role[];
}

/** The roles that these names stand for. Unknown names give none. */
export function rolesFor(names: readonly string[], { rolesMap, defaultRoles }: RoleMapping): ReadonlySet<Role> {
  const roles = new Set(defaultRoles);
  for (const name of names) {
    for (const role of rolesMap ? mapped(rolesMap, name) : own(name)) roles.add(role);
  }
  return roles;
}

const mapped = (rolesMap: NonNullable<RoleMapping['rolesMap']>, name: string): readonly Role[] =>
  Object.hasOwn(rolesMap, name) ? (rolesMap[name] ?? []) : [];

function own(name: string): readonly Role[] {
  const role = RoleName.safeParse(name);
  return role.success ? [role.data] : [];
}
