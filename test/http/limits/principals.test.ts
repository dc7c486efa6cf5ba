import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Principal, PrincipalLimits } from '../../../src/core/principal.ts';
import { type Authenticator, badCredential } from '../../../src/identity/authenticator.ts';
import { says, server } from '../server.ts';

/** Knows callers by their names in a header. */
const byName = (callers: Readonly<Record<string, PrincipalLimits>>): Authenticator => ({
  async authenticate({ headers }): Promise<Principal | undefined> {
    const { name } = headers;
    if (name === undefined) return undefined;
    const limits = callers[String(name)];
    if (!limits) throw badCredential('unknown');
    return { id: `key:${String(name)}`, actsForUsers: true, roles: new Set(['user']), limits };
  },
});

it('limits requests by what the credential of the caller says, before the setting', async () => {
  const authenticator = byName({ ada: { requestsPerMinute: 2 }, bob: {}, eve: { requestsPerMinute: 0 } });
  const { app } = await server({ authenticator, config: { requestsPerMinute: 1 } });
  const statusOf = async (name: string, url = '/list-apps') =>
    (await app.inject({ url, headers: { name } })).statusCode;

  const statuses = [];
  for (const name of ['ada', 'ada', 'ada', 'bob', 'bob', 'eve']) statuses.push(await statusOf(name));

  expect(statuses).toEqual([200, 200, 429, 200, 429, 429]);
  expect(await statusOf('eve', '/health')).toBe(200);
});

it('limits runs by what the credential of the caller says, whichever user it acts for', async () => {
  const gate = Promise.withResolvers<void>();
  const { app, services } = await server({
    authenticator: byName({ ada: { concurrentRuns: 1 }, bob: {} }),
    async *script() {
      await gate.promise;
      yield says('Done');
    },
  });
  const start = async (name: string, userId: string): Promise<number> => {
    await services.sessions.createSession({ appName: 'demo', userId }, { sessionId: name });
    const url = `/apps/demo/users/${userId}/sessions/${name}/runs`;
    const payload = { newMessage: { role: 'user', parts: [{ text: 'Hi' }] } };
    return (await app.inject({ method: 'POST', url, payload, headers: { name } })).statusCode;
  };

  expect([await start('ada', 'u'), await start('ada', 'v'), await start('bob', 'u')]).toEqual([202, 429, 202]);
  gate.resolve();
});

it('refuses 10,000 random credentials of an address, the later ones with 429, and none of its good ones', async () => {
  const { app } = await server({ authenticator: byName({ ada: {} }), config: { failedAuthPerMinute: 60 } });
  const counts = new Map<number, number>();

  for (let sent = 0; sent < 10_000; sent += 1) {
    const { statusCode } = await app.inject({ url: '/list-apps', headers: { name: randomBytes(16).toString('hex') } });
    counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
  }

  expect(Object.fromEntries(counts)).toEqual({ 401: 60, 429: 9_940 });
  expect((await app.inject({ url: '/list-apps', headers: { name: 'ada' } })).statusCode).toBe(200);
});
