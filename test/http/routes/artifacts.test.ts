import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import { server, sessionPath } from '../server.ts';

const list = `${sessionPath('s')}/artifacts`;
const text = (data: string): object => ({ inlineData: { mimeType: 'text/plain', data } });

async function withArtifacts(...names: readonly string[]) {
  const { app, services } = await server();
  await app.inject({ method: 'POST', url: sessionPath('s') });
  for (const [index, filename] of names.entries()) {
    const payload = { filename, artifact: text(['aGk=', 'aG8='][index % 2]!) };
    await app.inject({ method: 'POST', url: list, payload });
  }
  const read = async (path: string): Promise<unknown> => (await app.inject(`${list}/${path}`)).json();
  return { app, services, read };
}

it('saves, lists and loads artifacts', async () => {
  const { app, read } = await withArtifacts('note.txt', 'user:card.txt');

  const saved = await app.inject({
    method: 'POST',
    url: list,
    payload: { filename: 'note.txt', artifact: text('aG8='), custom_metadata: { by: 'me' } },
  });

  expect(saved.json()).toEqual({
    version: 1,
    canonicalUri: expect.stringContaining('note.txt'),
    customMetadata: { by: 'me' },
    createTime: expect.any(Number),
    mimeType: 'text/plain',
  });
  expect((await app.inject(list)).json()).toEqual(['note.txt', 'user:card.txt']);
  expect(await read('note.txt')).toEqual(text('aG8='));
  expect(await read('note.txt?version=0')).toEqual(text('aGk='));
  expect(await read('note.txt/versions')).toEqual([0, 1]);
  expect(await read('note.txt/versions/0')).toEqual(text('aGk='));
  expect(await read('note.txt/versions/latest')).toEqual(text('aG8='));
  expect(await read('note.txt/versions/latest/metadata')).toEqual(saved.json());
  expect(await read('note.txt/versions/0/metadata')).toMatchObject({ version: 0, customMetadata: {} });
  expect(await read('note.txt/versions/metadata')).toHaveLength(2);
});

it.each(['reports/2024/may.txt', 'reports%2F2024%2Fmay.txt'])('takes slashes in a name, as in %s', async (path) => {
  const { read } = await withArtifacts('reports/2024/may.txt', 'reports/2024/may.txt');

  expect(await read(path)).toEqual(text('aG8='));
  expect(await read(`${path}/versions`)).toEqual([0, 1]);
  expect(await read(`${path}/versions/0`)).toEqual(text('aGk='));
  expect(await read(`${path}/versions/0/metadata`)).toMatchObject({ version: 0 });
});

it('reaches a name that looks like a version when its slashes are encoded', async () => {
  const { read } = await withArtifacts('a/versions/1');

  expect(await read('a%2Fversions%2F1')).toEqual(text('aGk='));
  expect(await read('a/versions/1')).toMatchObject({ code: 'artifact_not_found' });
});

it('deletes an artifact with all versions', async () => {
  const { app, read } = await withArtifacts('a/b.txt', 'a/b.txt');

  const answer = await app.inject({ method: 'DELETE', url: `${list}/a/b.txt` });

  expect([answer.statusCode, answer.body]).toEqual([200, 'null']);
  expect((await app.inject(list)).json()).toEqual([]);
  expect(await read('a/b.txt')).toMatchObject({ status: 404, code: 'artifact_not_found' });
  expect(await read('a/b.txt/versions')).toEqual([]);
});

it.each([
  ['note.txt/versions/x', 400],
  ['note.txt/versions/-1', 400],
  ['note.txt/versions/9', 404],
  ['note.txt/versions/9/metadata', 404],
  ['note.txt?version=x', 400],
  ['a//b', 400],
  ['..%2f..%2fetc%2fpasswd', 400],
  ['%00', 400],
  ['%zz', 400],
  ['', 404],
])('refuses to load %s with %i', async (path, status) => {
  const { app } = await withArtifacts('note.txt');

  const answer = await app.inject(`${list}/${path}`);

  expect(answer.statusCode).toBe(status);
  expect(answer.headers['content-type']).toBe('application/problem+json');
});

it.each([
  ['no name', { artifact: text('aGk=') }, 400],
  ['a path as name', { filename: '../x', artifact: text('aGk=') }, 400],
  ['no payload', { filename: 'x', artifact: {} }, 400],
  ['data that is not base64', { filename: 'x', artifact: text('!') }, 400],
])('refuses to save with %s', async (_name, payload, status) => {
  const { app } = await withArtifacts();

  expect((await app.inject({ method: 'POST', url: list, payload })).statusCode).toBe(status);
});

it('saves nothing into a session that does not exist', async () => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: list, payload: { filename: 'x', artifact: text('aGk=') } });

  expect(answer.json()).toMatchObject({ status: 404, code: 'session_not_found' });
});

it('tells which methods an artifact path has', async () => {
  const { app } = await withArtifacts('x');

  const allowed = async (method: 'PATCH' | 'PUT' | 'DELETE' | 'OPTIONS', path: string) => {
    const { statusCode, headers } = await app.inject({ method, url: `${list}/${path}` });
    return [statusCode, headers.allow];
  };

  expect(await allowed('PATCH', 'x')).toEqual([405, 'DELETE, GET, HEAD, OPTIONS, PUT']);
  for (const path of [
    'x/versions/0',
    'x/versions',
    'x/versions/latest',
    'x/versions/0/metadata',
    'x/versions/metadata',
  ]) {
    for (const method of ['PATCH', 'PUT', 'DELETE'] as const) {
      expect(await allowed(method, path)).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
    expect(await allowed('OPTIONS', path)).toEqual([204, 'GET, HEAD, OPTIONS']);
  }
  expect((await app.inject(list)).json()).toEqual(['x']);
});

it('remembers a session', async () => {
  const { app, services } = await withArtifacts();
  const url = '/apps/demo/users/u/memory';

  const answer = await app.inject({ method: 'PATCH', url, payload: { sessionId: 's' } });
  const missing = await app.inject({ method: 'PATCH', url, payload: { session_id: 'nope' } });

  expect([answer.statusCode, answer.body]).toEqual([200, 'null']);
  expect(missing.statusCode).toBe(404);
  expect(await services.memories.searchMemory({ appName: 'demo', userId: 'u' }, 'anything')).toEqual([]);
});

it('searches what is remembered of a user', async () => {
  const { app, services } = await withArtifacts();
  const parts = [{ text: 'A hotel in Lisbon, please' }];
  await services.memories.addSessionToMemory({
    id: 's',
    appName: 'demo',
    userId: 'u',
    state: {},
    events: [newEvent({ invocationId: 'e-1' }, 'user', { content: { role: 'user', parts } })],
    lastUpdateTime: 1,
  });
  const search = (user: string, query: string) => app.inject(`/apps/demo/users/${user}/memory${query}`);

  expect((await search('u', '?q=LISBON%20weather')).json()).toMatchObject({
    memories: [{ author: 'user', content: { parts } }],
  });
  expect((await search('u', '?q=weather')).json()).toEqual({ memories: [] });
  expect((await search('v', '?q=lisbon')).json()).toEqual({ memories: [] });
  expect((await search('u', '')).statusCode).toBe(400);
});
