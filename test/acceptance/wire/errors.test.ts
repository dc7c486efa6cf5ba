import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, sessionsPath } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

it.each([
  ['GET', '/nowhere'],
  ['POST', '/nowhere'],
  ['GET', '/apps'],
  ['GET', '/apps/chat'],
  ['GET', '/apps/chat/users/user'],
  ['GET', '/dev/nowhere'],
  ['GET', '/run/more'],
  ['DELETE', '/list-apps/x'],
])('%s %s answers a JSON 404', async (method, path) => {
  const answer = await server.client.send(method, path);

  expect(answer).toBeProblem(404, 'not_found');
  expect(answer.json).toMatchObject({ instance: path });
});

it.each([
  ['GET', '/run'],
  ['GET', '/run_sse'],
  ['DELETE', '/list-apps'],
  ['PUT', '/version'],
  ['POST', '/health'],
])('%s %s, a known path with another method, answers a JSON 404 or 405', async (method, path) => {
  const answer = await server.client.send(method, path);

  expect(answer).toBeAnyOf([404, 405]);
});

it.each(['/run', '/run_sse', '/run-sse'])('POST %s names the session that does not exist', async (path) => {
  const answer = await server.client.post(path, runBody('chat', 'no-such-session', 'hi'));

  expect(answer).toBeProblem(404, 'session_not_found');
  expect(answer.json).toMatchObject({ detail: expect.stringContaining('no-such-session') as unknown, instance: path });
});

it.each(['/run', '/run_sse'])('POST %s names the app that does not exist', async (path) => {
  const answer = await server.client.post(path, runBody('no-such-app', 'none', 'hi'));

  expect(answer).toBeProblem(404, 'app_not_found');
  expect(answer.json).toMatchObject({ detail: expect.stringContaining('no-such-app') as unknown });
});

it('creates no session for an app that does not exist', async () => {
  const created = await server.client.post(sessionsPath('no-such-app'), {});

  expect(created).toBeProblem(404, 'app_not_found');
});

it.each(['appName', 'userId', 'sessionId', 'newMessage'])(
  'refuses a run without %s and names the field',
  async (key) => {
    const { id, path } = await newSession(server.client, 'chat');

    const answer = await server.client.post('/run', { ...runBody('chat', id, 'hi'), [key]: undefined });

    expect(answer).toBeProblem(400, 'invalid_request');
    expect(answer.json).toMatchObject({ detail: expect.stringContaining(key) as unknown });
    expect((await readSession(server.client, path)).events).toEqual([]);
  },
);

it('finds a session only under its own user and its own app', async () => {
  const { id } = await newSession(server.client, 'chat');

  const asOther = await server.client.post('/run', runBody('chat', id, 'hi', { userId: 'mallory' }));
  const inOther = await server.client.post('/run', runBody('probe', id, 'hi'));

  expect(asOther).toBeProblem(404, 'session_not_found');
  expect(inOther).toBeProblem(404, 'session_not_found');
  expect(await server.client.get(`${sessionsPath('chat', 'mallory')}/${id}`)).toBeProblem(404);
  expect(await server.client.get(`${sessionsPath('probe')}/${id}`)).toBeProblem(404);
});

it.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/octet-stream',
  'application/jsonx',
])('refuses a body of type %s with 415 and stores nothing', async (type) => {
  const { id, path } = await newSession(server.client, 'chat');

  const answer = await server.client.send('POST', '/run', {
    body: JSON.stringify(runBody('chat', id, 'hi')),
    headers: { 'content-type': type },
  });

  expect(answer).toBeProblem(415, 'unsupported_media_type');
  expect((await readSession(server.client, path)).events).toEqual([]);
});

it.each(['application/json; charset=utf-8', 'application/JSON', 'application/json;charset=UTF-8'])(
  'takes a body of type %s',
  async (type) => {
    const { id } = await newSession(server.client, 'chat');

    const answer = await server.client.send('POST', '/run', {
      body: JSON.stringify(runBody('chat', id, 'hi')),
      headers: { 'content-type': type },
    });

    expect(answer).toHaveStatus(200);
  },
);

it('names the field and not the value that is wrong', async () => {
  const answer = await server.client.post('/run', { ...runBody('chat', 'x', 'hi'), streaming: 'SECRET-VALUE' });

  expect(answer).toBeProblem(400, 'invalid_request');
  expect(answer.json).toMatchObject({ detail: expect.stringContaining('streaming') as unknown });
  expect(answer.text).not.toContain('SECRET-VALUE');
});

it('answers HEAD as GET without a body', async () => {
  const answer = await server.client.send('HEAD', '/list-apps');

  expect([200, 404]).toContain(answer.status);
  expect(answer.text).toBe('');
});

it('never answers with the name of its software', async () => {
  const { headers } = await server.client.get('/list-apps');

  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('server')).toBeNull();
});
