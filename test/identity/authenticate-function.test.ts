import { expect, it } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import type { Principal } from '../../src/core/principal.ts';
import { type AuthenticateFunction, authenticatorOf } from '../../src/identity/authenticate-function.ts';
import { callerWith, collectedLog, patient } from '../support/caller.ts';

const log = collectedLog();
const check = (authenticate: AuthenticateFunction): Promise<Principal | undefined> =>
  authenticatorOf(authenticate, log).authenticate(callerWith({ cookie: 'session=1' }), patient);

it('makes a principal of what the function says', async () => {
  const soon = Date.now() + 60_000;

  expect(await check(({ headers }) => ({ userId: String(headers['cookie']).slice(-1) }))).toEqual({
    id: 'custom:1',
    userId: '1',
    actsForUsers: false,
    roles: new Set(['user']),
  });
  expect(
    await check(async () => ({
      id: 'job',
      actsForUsers: true,
      roles: ['operator'],
      apps: ['shop'],
      tenant: 't',
      expiresAt: soon,
    })),
  ).toEqual({
    id: 'custom:job',
    actsForUsers: true,
    roles: new Set(['operator']),
    apps: new Set(['shop']),
    tenant: 't',
    expiresAt: soon,
  });
  expect(await check(() => undefined)).toBeUndefined();
  expect(await check(() => null)).toBeUndefined();
});

it('refuses callers whom the function refuses, and shows nothing of why', async () => {
  const refused = check(() => {
    throw new TypeError('secret is not defined');
  });

  await expect(refused).rejects.toMatchObject({ code: 'unauthenticated', message: 'The credential is not valid' });
  expect(log.messages).toEqual(['the authenticate function failed']);
  const later = new AppError('unavailable', 'Sign-ins are not possible now', { retryAfter: 5 });
  await expect(check(() => Promise.reject(later))).rejects.toBe(later);
  await expect(check(() => ({ userId: 'ada', expiresAt: Date.now() - 1 }))).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

it('rejects results that are no identity', async () => {
  const odd: unknown[] = [
    true,
    'ada',
    {},
    { userId: '' },
    { userId: 'a/b' },
    { userId: 'ada', roles: ['root'] },
    { userId: 'ada', role: 'user' },
  ];
  for (const result of odd) {
    await expect(check((() => result) as AuthenticateFunction)).rejects.toMatchObject({ code: 'internal' });
  }
});
