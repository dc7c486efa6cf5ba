import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, sessionsPath, type WireSession } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const imported = (events: unknown[], extra: object = {}): Promise<{ status: number; text: string; json: unknown }> =>
  server.client.post(sessionsPath('chat', 'importer'), { events, ...extra });

it('creates a session with the events and the state of an export', async () => {
  const { id, path } = await newSession(server.client, 'probe', { state: { open: 1 } });
  await runEvents(server.client, runBody('probe', id, 'remember colour blue'));
  const original = await readSession(server.client, path);

  const now = Date.now() / 1_000;
  const answer = await imported(
    original.events.map((event) => ({ ...event, timestamp: now })),
    { state: original.state },
  );

  expect(answer).toHaveStatus(200);
  const copy = answer.json as WireSession;
  expect(copy.id).not.toBe(id);
  expect(copy.state).toEqual({ open: 1, colour: 'blue' });
  expect(copy.events).toHaveLength(original.events.length);
  expect(copy.events.map(({ author, content, actions }) => ({ author, content, actions }))).toEqual(
    original.events.map(({ author, content, actions }) => ({ author, content, actions })),
  );
  expect(await readSession(server.client, `${sessionsPath('chat', 'importer')}/${copy.id}`)).toEqual(copy);
});

it.each([
  ['seconds', 1_700_000_000.25, 1_700_000_000.25],
  ['milliseconds', 1_700_000_000_250, 1_700_000_000.25],
])('reads the time of an imported event in %s', async (_unit, timestamp, seconds) => {
  const answer = await imported([
    { id: 'e1', author: 'user', timestamp, content: { role: 'user', parts: [{ text: 'hi' }] } },
  ]);

  expect(answer).toHaveStatus(200);
  expect((answer.json as WireSession).events[0]!.timestamp).toBeCloseTo(seconds, 3);
});

it('reads events with snake_case keys and answers them in camelCase', async () => {
  const answer = await imported([
    {
      id: 'e1',
      invocation_id: 'e-1',
      author: 'chat_agent',
      timestamp: 1_700_000_000,
      content: { role: 'model', parts: [{ function_call: { id: 'c1', name: 'look_up', args: { snake_key: 1 } } }] },
      actions: { state_delta: { snake_key: 'kept' }, artifact_delta: {} },
    },
  ]);

  expect(answer).toHaveStatus(200);
  const { events, state } = answer.json as WireSession;
  expect(state).toEqual({ snake_key: 'kept' });
  expect(events[0]).toMatchObject({
    id: 'e1',
    invocationId: 'e-1',
    content: { parts: [{ functionCall: { id: 'c1', name: 'look_up', args: { snake_key: 1 } } }] },
    actions: { stateDelta: { snake_key: 'kept' } },
  });
});

it('keeps fields of events and parts that it does not know', async () => {
  const answer = await imported([
    {
      id: 'e1',
      author: 'chat_agent',
      timestamp: 1_700_000_000,
      futureField: { a: 1 },
      content: { role: 'model', parts: [{ text: 'hi', futurePart: [1] }] },
    },
  ]);

  expect((answer.json as WireSession).events[0]).toMatchObject({
    futureField: { a: 1 },
    content: { parts: [{ text: 'hi', futurePart: [1] }] },
  });
});

it.each([
  ['not a list', { events: 'none' }],
  ['a list of texts', { events: ['hi'] }],
  ['a list of nulls', { events: [null] }],
  ['events without author', { events: [{ content: { parts: [{ text: 'hi' }] } }] }],
  ['events whose content is a text', { events: [{ author: 'user', content: 'hi' }] }],
  ['events whose parts are an object', { events: [{ author: 'user', content: { role: 'user', parts: {} } }] }],
])('refuses events that are %s and creates nothing', async (_name, body) => {
  const answer = await server.client.post(sessionsPath('chat', 'strict'), body);

  expect(answer).toBeProblem(400);
  expect((await server.client.get(sessionsPath('chat', 'strict'))).json).toEqual([]);
});

it('goes on with an imported conversation', async () => {
  const answer = await imported([
    { id: 'e1', author: 'user', timestamp: 1_700_000_000, content: { role: 'user', parts: [{ text: 'before' }] } },
  ]);
  const { id } = answer.json as WireSession;

  await runEvents(server.client, runBody('chat', id, 'hi', { userId: 'importer' }));

  const { events } = await readSession(server.client, `${sessionsPath('chat', 'importer')}/${id}`);
  expect(events.map(({ content }) => content?.parts[0]?.text)).toEqual(['before', 'hi', 'Hello!']);
});

it('shares user: and app: state as far as their prefix says', async () => {
  const state = { own: 1, 'user:lang': 'de', 'app:theme': 'dark', 'temp:x': 1 };
  const { path } = await newSession(server.client, 'team', { user: 'ann', state });
  const annAgain = await newSession(server.client, 'team', { user: 'ann' });
  const bob = await newSession(server.client, 'team', { user: 'bob' });

  expect((await readSession(server.client, path)).state).toEqual({ own: 1, 'user:lang': 'de', 'app:theme': 'dark' });
  expect((await readSession(server.client, annAgain.path)).state).toEqual({ 'user:lang': 'de', 'app:theme': 'dark' });
  expect((await readSession(server.client, bob.path)).state).toEqual({ 'app:theme': 'dark' });
});

it('PATCH and the stateDelta of a run write to the same scopes', async () => {
  const first = await newSession(server.client, 'keys', { user: 'cy' });
  const second = await newSession(server.client, 'keys', { user: 'cy' });

  await server.client.patch(first.path, { stateDelta: { 'user:a': 1, 'temp:b': 1, c: 1 } });
  await runEvents(
    server.client,
    runBody('keys', first.id, 'hi', { userId: 'cy', stateDelta: { 'app:d': 1, 'temp:e': 1 } }),
  );

  const session = await readSession(server.client, first.path);
  expect(session.state).toEqual({ 'user:a': 1, 'app:d': 1, c: 1 });
  expect(session.events.map(({ actions }) => actions.stateDelta)).toEqual([{ 'user:a': 1, c: 1 }, { 'app:d': 1 }, {}]);
  expect((await readSession(server.client, second.path)).state).toEqual({ 'user:a': 1, 'app:d': 1 });
});

it.each([
  ['camelCase', { sessionId: 'S' }],
  ['snake_case', { session_id: 'S' }],
])('PATCH memory in %s adds a session to memory and answers null', async (_name, body) => {
  const { id } = await newSession(server.client, 'chat', { user: 'rememberer' });
  await runEvents(server.client, runBody('chat', id, 'hi', { userId: 'rememberer' }));
  const filled = Object.fromEntries(Object.keys(body).map((key) => [key, id]));

  const answer = await server.client.patch('/apps/chat/users/rememberer/memory', filled);

  expect([answer.status, answer.text]).toEqual([200, 'null']);
});

it.each([
  ['an unknown session', { sessionId: 'none' }, 404],
  ['no session', {}, 400],
  ['a session id that is a number', { sessionId: 7 }, 400],
])('refuses PATCH memory with %s', async (_name, body, status) => {
  expect(await server.client.patch('/apps/chat/users/user/memory', body)).toBeProblem(status);
});
