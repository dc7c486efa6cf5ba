import { expect, it } from 'vitest';
import type { Role } from '../../../src/schemas/principal.ts';
import { server } from '../server.ts';

it('keeps a route that says nothing of its callers to operators', async () => {
  const { app } = await server({
    authenticator: {
      authenticate: async ({ headers: { authorization } }) =>
        authorization === undefined
          ? undefined
          : { id: 'a', userId: 'a', actsForUsers: true, roles: new Set([authorization as Role]) },
    },
  });
  app.get('/plain', () => 'secret');
  const statusFor = async (authorization?: Role): Promise<number> =>
    (await app.inject({ url: '/plain', headers: authorization ? { authorization } : {} })).statusCode;

  expect(await statusFor()).toBe(401);
  for (const role of ['user', 'developer', 'admin'] as const)
    expect([role, await statusFor(role)]).toEqual([role, 403]);
  expect(await statusFor('operator')).toBe(200);
});

it('adds nothing to requests of a server that does not know its callers', async () => {
  const { app } = await server();

  expect(app.hasRequestDecorator('caller')).toBe(false);
  const answer = await app.inject({ url: '/list-apps', headers: { authorization: 'Bearer nonsense' } });
  expect(answer.json()).toEqual(['demo']);
});
