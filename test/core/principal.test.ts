import { expect, it } from 'vitest';
import { hasRole, type Role } from '../../src/core/principal.ts';
import { Role as Roles } from '../../src/schemas/principal.ts';

const allowed = (...roles: Role[]): Role[] => Roles.options.filter((role) => hasRole({ roles: new Set(roles) }, role));

it('includes user in operator and developer, and nothing else', () => {
  expect(allowed()).toEqual([]);
  expect(allowed('user')).toEqual(['user']);
  expect(allowed('operator')).toEqual(['user', 'operator']);
  expect(allowed('developer')).toEqual(['user', 'developer']);
  expect(allowed('admin')).toEqual(['admin']);
  expect(allowed('operator', 'developer', 'admin')).toEqual(['user', 'operator', 'developer', 'admin']);
});
