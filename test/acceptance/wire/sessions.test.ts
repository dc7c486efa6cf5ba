import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, sessionsPath, type WireSession } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const withJson = { 'content-type': 'application/json' };

it('creates a session from a request without body and without content type', async () => {
  const answer = await server.client.post(sessionsPath('chat'));

  expect(answer).toHaveStatus(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.json).toEqual({
    id: expect.stringMatching(uuid) as unknown,
    appName: 'chat',
    userId: 'user',
    state: {},
    events: [],
    lastUpdateTime: expect.any(Number) as unknown,
  });
});

it('tells times in seconds, with fractions', async () => {
  const before = Date.now() / 1_000;
  const { id, path } = await newSession(server.client, 'chat');
  const [event] = await runEvents(server.client, runBody('chat', id, 'hi'));
  const session = await readSession(server.client, path);
  const after = Date.now() / 1_000;

  for (const time of [event!.timestamp, session.lastUpdateTime, ...session.events.map((stored) => stored.timestamp)]) {
    expect(time).toBeGreaterThanOrEqual(before - 0.01);
    expect(time).toBeLessThanOrEqual(after + 0.01);
  }
});

it.each([
  ['an empty body with a JSON content type', '', {}],
  ['a null body', 'null', {}],
  ['an empty object', '{}', {}],
  ['a null state', '{"state":null}', {}],
  ['a state', '{"state":{"a":1,"b":{"c":[null]}}}', { a: 1, b: { c: [null] } }],
  ['a state beside empty events', '{"state":{"a":1},"events":[]}', { a: 1 }],
])('creates a session from %s', async (_name, body, state) => {
  const answer = await server.client.send('POST', sessionsPath('chat'), { body, headers: withJson });

  expect(answer).toHaveStatus(200);
  expect(answer.json).toMatchObject({ state });
});

it.each(['sessionId', 'session_id'])('creates a session whose id the body names as %s', async (key) => {
  const id = `named-${key}`;
  const answer = await server.client.post(sessionsPath('chat'), { [key]: id });

  expect(answer).toHaveStatus(200);
  expect(answer.json).toMatchObject({ id });
  expect(await readSession(server.client, `${sessionsPath('chat')}/${id}`)).toMatchObject({ id });
});

it.each([
  ['no body', undefined, {}],
  ['a wrapper', { state: { a: 1 } }, { a: 1 }],
  ['an empty wrapper', { state: {} }, {}],
  ['a raw state map', { a: 1, b: 'two' }, { a: 1, b: 'two' }],
  ['a raw state map with a key called state', { state: 'open', a: 1 }, { state: 'open', a: 1 }],
  ['an empty map', {}, {}],
  ['a wrapper with events', { state: { a: 1 }, events: [] }, { a: 1 }],
])('creates a session under a given id from %s', async (name, body, state) => {
  const path = `${sessionsPath('chat', 'given')}/${name.replaceAll(' ', '-')}`;

  const answer = await server.client.post(path, body);

  expect(answer).toHaveStatus(200);
  expect(answer.json).toMatchObject({ id: name.replaceAll(' ', '-'), userId: 'given', state });
});

it('keeps the display name that the official UI gives a session', async () => {
  const state = { __session_metadata__: { displayName: 'Weather in Bern' } };
  const { id, path } = await newSession(server.client, 'chat', { user: 'namer', state });

  const list = await server.client.get(sessionsPath('chat', 'namer'));

  expect(await readSession(server.client, path)).toMatchObject({ state });
  expect(list.json).toMatchObject([{ id, state, events: [] }]);
});

it('refuses an id that is taken with 409 and leaves the session as it is', async () => {
  const path = `${sessionsPath('chat')}/taken`;
  await server.client.post(path, { state: { first: true } });

  const again = await server.client.post(path, { state: { first: false } });
  const inBody = await server.client.post(sessionsPath('chat'), { sessionId: 'taken' });

  for (const answer of [again, inBody]) {
    expect(answer).toBeProblem(409);
    expect(answer.json).toMatchObject({ detail: expect.stringContaining('taken') as unknown });
  }
  expect(await readSession(server.client, path)).toMatchObject({ state: { first: true } });
});

it('lists the sessions of one user of one app as a bare array', async () => {
  const created = await Promise.all(
    [1, 2, 3].map((n) => newSession(server.client, 'chat', { user: 'lister', state: { n } })),
  );
  await newSession(server.client, 'probe', { user: 'lister' });
  await newSession(server.client, 'chat', { user: 'other' });
  await runEvents(server.client, runBody('chat', created[0]!.id, 'hi', { userId: 'lister' }));

  const answer = await server.client.get(sessionsPath('chat', 'lister'));

  const sessions = answer.json as WireSession[];
  expect(sessions.map(({ id }) => id).toSorted()).toEqual(created.map(({ id }) => id).toSorted());
  expect(sessions.map(({ state }) => Number(state['n'])).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(sessions.map(({ events }) => events)).toEqual([[], [], []]);
});

it('lists no sessions as an empty array', async () => {
  const answer = await server.client.get(sessionsPath('chat', 'nobody'));

  expect([answer.status, answer.text]).toEqual([200, '[]']);
});

it('answers a session with its user events, its final events and without partial ones', async () => {
  const { id, path } = await newSession(server.client, 'chat');
  await server.client.post('/run_sse', {
    appName: 'chat',
    userId: 'user',
    sessionId: id,
    newMessage: { role: 'user', parts: [{ text: 'stream' }] },
    streaming: true,
  });

  const { events } = await readSession(server.client, path);

  expect(events.map(({ author, partial }) => [author, partial])).toEqual([
    ['user', undefined],
    ['chat_agent', undefined],
  ]);
  expect(events.map(({ content }) => content)).toMatchObject([
    { role: 'user', parts: [{ text: 'stream' }] },
    { role: 'model', parts: [{ text: 'Hello, world!' }] },
  ]);
  expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(1);
});

it.each(['GET', 'PATCH'])('refuses to %s an unknown session with 404', async (method) => {
  const path = `${sessionsPath('chat')}/none`;
  const answer = await server.client.send(
    method,
    path,
    method === 'PATCH' ? { body: '{"stateDelta":{"a":1}}', headers: withJson } : {},
  );

  expect(answer).toBeProblem(404, 'session_not_found');
  expect(answer.json).toMatchObject({ detail: expect.stringContaining('none') as unknown });
});

it.each(['stateDelta', 'state_delta'])('PATCH with %s changes the state by an event of the user', async (key) => {
  const { path } = await newSession(server.client, 'chat', { state: { keep: 1, drop: 2 } });

  const answer = await server.client.patch(path, { [key]: { added: { deep: true }, drop: null } });

  expect(answer).toHaveStatus(200);
  const session = await readSession(server.client, path);
  expect(answer.json).toMatchObject({ id: session.id, state: session.state });
  expect(session.state).toEqual({ keep: 1, added: { deep: true } });
  expect(session.events).toHaveLength(1);
  expect(session.events[0]).toMatchObject({ author: 'user', invocationId: expect.stringMatching(/^p-/) as unknown });
  expect(session.events[0]!.content).toBeUndefined();
});

it.each([
  ['no body', ''],
  ['an empty object', '{}'],
  ['a delta that is a list', '{"stateDelta":[1]}'],
  ['a delta that is a text', '{"stateDelta":"abc"}'],
])('refuses to PATCH with %s', async (_name, body) => {
  const { path } = await newSession(server.client, 'chat', { state: { a: 1 } });

  const answer = await server.client.send('PATCH', path, { body, headers: withJson });

  expect(answer).toBeProblem(400);
  expect(await readSession(server.client, path)).toMatchObject({ state: { a: 1 }, events: [] });
});

it.each([
  ['without content type', {}],
  ['with a JSON content type and no body', withJson],
])('DELETE %s answers 200 with the body null, also a second time', async (_name, headers) => {
  const { path } = await newSession(server.client, 'chat');

  const first = await server.client.send('DELETE', path, { headers });
  const second = await server.client.send('DELETE', path, { headers });

  for (const answer of [first, second]) {
    expect([answer.status, answer.text]).toEqual([200, 'null']);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  }
  expect(await server.client.get(path)).toBeProblem(404);
});

it('DELETE takes the artifacts of the session with it', async () => {
  const { path } = await newSession(server.client, 'chat');
  await server.client.post(`${path}/artifacts`, { filename: 'note.txt', artifact: { text: 'hi' } });

  await server.client.delete(path);

  expect(await server.client.get(`${path}/artifacts/note.txt`)).toBeProblem(404);
});
