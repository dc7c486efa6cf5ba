import { expect, it } from 'vitest';
import { InMemoryArtifacts } from '../../../src/services/artifacts/in-memory.ts';
import { server } from '../server.ts';

/** An author's own store, which fails. */
class BrokenArtifacts extends InMemoryArtifacts {
  override listArtifactKeys(): Promise<string[]> {
    return Promise.reject(new RangeError('bucket "sk-abcdefghijklmnop1234" is gone'));
  }
}

const url = '/apps/demo/users/u/sessions/s/artifacts';

async function ask(config: object) {
  const { app, services, logged } = await server({ artifacts: new BrokenArtifacts(), config });
  await services.sessions.createSession({ appName: 'demo', userId: 'u' }, { sessionId: 's' });
  const answer = await app.inject({ url, headers: { host: 'localhost' } });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>(), logged };
}

it('tells the author what a store of its own threw, and where', async () => {
  const { status, body } = await ask({});
  const where = expect.stringMatching(/^test\/http\/errors\/store-errors\.test\.ts:\d+$/);
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: 'internal', where, errorId: expect.any(String) });
  expect(body['detail']).toBe(`RangeError: bucket "[redacted]" is gone (at ${String(body['where'])})`);
  expect(body['error']).toBe(body['detail']);
});

it.each([
  ['on another address', { host: '0.0.0.0', allowHosts: ['localhost'] }],
  ['on another address, with all routes of development', { host: '0.0.0.0', development: new Set(['app-details']) }],
  ['on loopback behind a proxy', { host: '127.0.0.1', development: new Set() }],
])('tells an id only %s', async (_, config) => {
  const { status, body, logged } = await ask(config);
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: 'internal', detail: `Internal error (id ${String(body['errorId'])})` });
  expect(body['error']).toBe(body['detail']);
  expect(body).not.toHaveProperty('where');
  expect(logged[0]).toMatchObject({
    level: 'error',
    fields: { errorId: body['errorId'], err: { message: expect.stringContaining('is gone') } },
  });
});
