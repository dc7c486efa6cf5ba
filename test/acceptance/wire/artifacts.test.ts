import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newSession, runBody, runEvents } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
let path = '';
let id = '';
// A user of its own for each test: artifacts named `user:` outlive a session.
let user = '';
beforeAll(async () => {
  server = await startProbeServer();
});
beforeEach(async () => {
  user = `user-${crypto.randomUUID()}`;
  ({ path, id } = await newSession(server.client, 'probe', { user }));
});
afterAll(() => server.stop());

const inline = (text: string): object => ({
  inlineData: { mimeType: 'text/plain', data: Buffer.from(text).toString('base64') },
});
const save = (filename: string, artifact: unknown, extra: object = {}): ReturnType<typeof server.client.post> =>
  server.client.post(`${path}/artifacts`, { filename, artifact, ...extra });
const get = (rest: string): ReturnType<typeof server.client.get> => server.client.get(`${path}/artifacts${rest}`);

it('lists no artifacts as an empty array', async () => {
  const answer = await get('');

  expect([answer.status, answer.text]).toEqual([200, '[]']);
});

it('saves versions from 0 and answers each with its metadata', async () => {
  const first = await save('note.txt', inline('one'));
  const second = await save('note.txt', inline('two'), { customMetadata: { by: 'me' } });

  expect(first).toHaveStatus(200);
  expect(first.json).toMatchObject({
    version: 0,
    canonicalUri: expect.any(String) as unknown,
    createTime: expect.any(Number) as unknown,
    mimeType: 'text/plain',
  });
  expect(second.json).toMatchObject({ version: 1, customMetadata: { by: 'me' } });
  expect((await get('')).json).toEqual(['note.txt']);
  expect((await get('/note.txt/versions')).json).toEqual([0, 1]);
});

it.each([
  ['the latest', '/note.txt', 'two'],
  ['the latest by name', '/note.txt/versions/latest', 'two'],
  ['a version by path', '/note.txt/versions/0', 'one'],
  ['a version by query', '/note.txt?version=0', 'one'],
  ['version 1', '/note.txt/versions/1', 'two'],
])('loads %s as the part itself', async (_name, rest, text) => {
  await save('note.txt', inline('one'));
  await save('note.txt', inline('two'));

  const answer = await get(rest);

  expect(answer).toHaveStatus(200);
  expect(answer.json).toEqual(inline(text));
});

it.each(['/note.txt/versions/0/metadata', '/note.txt/versions/latest/metadata'])('answers GET %s', async (rest) => {
  await save('note.txt', inline('one'));

  expect((await get(rest)).json).toMatchObject({ version: 0, mimeType: 'text/plain' });
});

it('lists the metadata of all versions', async () => {
  await save('note.txt', inline('one'));
  await save('note.txt', inline('two'));

  expect((await get('/note.txt/versions/metadata')).json).toMatchObject([{ version: 0 }, { version: 1 }]);
});

it.each([
  ['an artifact', '/none.txt'],
  ['a version of an artifact', '/note.txt/versions/7'],
  ['a version by query', '/note.txt?version=7'],
  ['metadata', '/note.txt/versions/7/metadata'],
])('answers 404 for %s that is not there', async (_name, rest) => {
  await save('note.txt', inline('one'));

  expect(await get(rest)).toBeProblem(404);
});

it.each(['/note.txt/versions/abc', '/note.txt/versions/-1', '/note.txt/versions/1.5', '/note.txt?version=abc'])(
  'refuses GET %s as a version that is no number',
  async (rest) => {
    await save('note.txt', inline('one'));

    expect(await get(rest)).toBeProblem(400);
  },
);

it('deletes all versions and answers null, also a second time', async () => {
  await save('note.txt', inline('one'));
  await save('note.txt', inline('two'));

  const first = await server.client.delete(`${path}/artifacts/note.txt`);
  const second = await server.client.delete(`${path}/artifacts/note.txt`);

  expect([first.status, first.text, second.status, second.text]).toEqual([200, 'null', 200, 'null']);
  expect((await get('')).json).toEqual([]);
  expect(await get('/note.txt')).toBeProblem(404);
});

it.each([
  'docs/2024/report.txt',
  'a b.txt',
  'ünïcödé.txt',
  'user:me.txt',
  'user:docs/me.txt',
  'weird%20name',
  'versions',
])('takes the name %s with its slashes raw or encoded', async (name) => {
  const saved = await save(name, inline(name));
  expect(saved).toHaveStatus(200);

  const raw = name.split('/').map(encodeURIComponent).join('/');
  for (const spelling of [raw, encodeURIComponent(name)]) {
    expect((await get(`/${spelling}`)).json).toEqual(inline(name));
    expect((await get(`/${spelling}/versions`)).json).toEqual([0]);
    expect((await get(`/${spelling}/versions/0`)).json).toEqual(inline(name));
  }
  expect((await get('')).json).toContain(name);
});

it('shares user: artifacts between the sessions of a user, and others with nobody', async () => {
  await save('user:shared.txt', inline('ours'));
  await save('own.txt', inline('mine'));
  const other = await newSession(server.client, 'probe', { user });
  const stranger = await newSession(server.client, 'probe', { user: 'stranger' });

  expect((await server.client.get(`${other.path}/artifacts`)).json).toContain('user:shared.txt');
  expect((await server.client.get(`${other.path}/artifacts/user:shared.txt`)).json).toEqual(inline('ours'));
  expect(await server.client.get(`${other.path}/artifacts/own.txt`)).toBeProblem(404);
  expect((await server.client.get(`${stranger.path}/artifacts`)).json).toEqual([]);
});

it('answers what a tool saved, under the version that the event names', async () => {
  const events = await runEvents(server.client, runBody('probe', id, 'save out/plan.md step one', { userId: user }));

  const delta = events.map(({ actions }) => actions.artifactDelta).find((entry) => 'out/plan.md' in entry);
  expect(delta).toEqual({ 'out/plan.md': 0 });
  expect((await get('/out/plan.md/versions/0')).json).toEqual({ text: 'step one' });
});

it.each([
  ['standard', '+/+/+w=='],
  ['URL-safe', '-_-_-w'],
])('takes %s base64 and answers the same bytes', async (_name, data) => {
  await save('bytes.bin', { inlineData: { mimeType: 'application/octet-stream', data } });

  const { inlineData } = (await get('/bytes.bin')).json as { inlineData: { data: string } };
  expect(Buffer.from(inlineData.data, 'base64')).toEqual(Buffer.from(data, 'base64'));
});

it.each([
  ['nothing', {}],
  ['no artifact', { filename: 'a.txt' }],
  ['no name', { artifact: { text: 'hi' } }],
  ['an empty name', { filename: '', artifact: { text: 'hi' } }],
  ['a name that is a number', { filename: 7, artifact: { text: 'hi' } }],
  ['an artifact that is a text', { filename: 'a.txt', artifact: 'hi' }],
  ['an artifact without content', { filename: 'a.txt', artifact: {} }],
  ['data that is no base64', { filename: 'a.txt', artifact: { inlineData: { mimeType: 'a/b', data: '<<<>>>' } } }],
])('refuses to save %s', async (_name, body) => {
  expect(await server.client.post(`${path}/artifacts`, body)).toBeProblem(400);
  expect((await get('')).json).toEqual([]);
});

it('refuses to save into a session that is not there', async () => {
  const answer = await server.client.post('/apps/probe/users/user/sessions/none/artifacts', {
    filename: 'a.txt',
    artifact: { text: 'hi' },
  });

  expect(answer).toBeProblem(404);
});

it('never lets a browser render an artifact in our origin', async () => {
  await save('evil.html', { inlineData: { mimeType: 'text/html', data: btoa('<script>alert(1)</script>') } });

  const answer = await get('/evil.html');

  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});
