import { expect, it } from 'vitest';
import { LoginSessions, sessionCookie } from '../../../src/http/login/login-sessions.ts';
import { callerWith, patient } from '../../support/caller.ts';
import { secret } from './scene.ts';

const ada = { id: 'https://issuer.example|1', userId: 'ada', actsForUsers: false, roles: new Set(['user'] as const) };

function scene({ ttlMs = 60_000, isSecure = false } = {}) {
  const sessions = new LoginSessions({ secret: () => Promise.resolve(secret), keys: undefined, ttlMs, isSecure });
  const who = (value: string, headers: Record<string, string> = {}) =>
    sessions.authenticate(callerWith({ cookie: `other=1; ${sessionCookie}=${value}`, ...headers }), patient);
  return { sessions, who };
}

it('keeps who logged in at an issuer in the cookie, sealed, and for a time', async () => {
  const { sessions, who } = scene();
  const { value, endsAt } = await sessions.beginByIssuer(ada);

  expect(await who(value)).toEqual({ ...ada, expiresAt: endsAt });
  expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('ada');
  expect((await sessions.beginByIssuer(ada)).value).not.toBe(value);
  const { value: old } = await scene({ ttlMs: 0 }).sessions.beginByIssuer(ada);
  expect(await who(old)).toBeUndefined();
  await expect(sessions.beginByIssuer({ id: 'a', actsForUsers: false, roles: ada.roles })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

it('takes links of other pages for strangers', async () => {
  const { sessions, who } = scene();
  const { value } = await sessions.beginByIssuer(ada);
  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  expect(await who(value, { ...link, 'sec-fetch-site': 'same-site' })).toBeUndefined();
  expect(await who(value, { ...link, 'sec-fetch-site': 'none' })).toMatchObject({ userId: 'ada' });
  await expect(who(value, { upgrade: 'websocket' })).rejects.toMatchObject({ code: 'origin_not_allowed' });
  const own = { upgrade: 'websocket', host: 'agents.example', origin: 'https://agents.example' };
  expect(await who(value, own)).toMatchObject({ userId: 'ada' });
});

it('remembers the logins that were ended last', async () => {
  const { sessions, who } = scene();
  const first = await sessions.beginByIssuer(ada);
  const end = (value: string) => sessions.end(callerWith({ cookie: `${sessionCookie}=${value}` }));
  await end(first.value);
  expect(await who(first.value)).toBeUndefined();

  for (let count = 0; count < 10_000; count += 1) await end((await sessions.beginByIssuer(ada)).value);

  expect(await who(first.value)).toBeDefined();
});
