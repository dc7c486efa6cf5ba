import { expect, it } from 'vitest';
import { eventJson, newActions } from '../../../src/schemas/event.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { says, server, sessionPath } from '../server.ts';

const sessions = '/apps/demo/users/u/sessions';

it('creates a session with a generated id', async () => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: sessions, payload: { state: { colour: 'blue' } } });

  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json()).toEqual({
    id: expect.stringMatching(/^[\da-f-]{36}$/),
    appName: 'demo',
    userId: 'u',
    state: { colour: 'blue' },
    events: [],
    lastUpdateTime: expect.closeTo(Date.now() / 1000, 0),
  });
});

it('creates a session without a body, and with a null one', async () => {
  const { app } = await server();

  const bare = await app.inject({ method: 'POST', url: sessions });
  const empty = await app.inject({ method: 'POST', url: sessions, headers: { 'content-type': 'application/json' } });
  const nothing = await app.inject({
    method: 'POST',
    url: sessions,
    headers: { 'content-type': 'application/json' },
    payload: 'null',
  });

  expect([bare, empty, nothing].map((answer) => answer.statusCode)).toEqual([200, 200, 200]);
  expect(bare.json()).toMatchObject({ state: {}, events: [] });
});

it.each([
  ['a session request', { state: { a: 1 } }, { a: 1 }],
  ['the state itself', { colour: 'blue', state: 'open' }, { colour: 'blue', state: 'open' }],
  ['an empty object', {}, {}],
  ['a session request without state', { state: null }, {}],
])('creates a session under a given id from %s', async (_name, payload, state) => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: sessionPath('mine'), payload });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ id: 'mine', state });
});

it('refuses a session id that is taken', async () => {
  const { app } = await server();
  await app.inject({ method: 'POST', url: sessionPath('s') });

  const answer = await app.inject({ method: 'POST', url: sessions, payload: { session_id: 's' } });

  expect(answer.statusCode).toBe(409);
  expect(answer.json()).toMatchObject({ code: 'session_exists', detail: 'Session "s" already exists' });
});

it('refuses a session of an app that does not exist', async () => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: '/apps/nope/users/u/sessions' });

  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ code: 'app_not_found' });
});

it('imports events with their actions', async () => {
  const { app } = await server();
  const event = says('Hello!', { actions: { ...newActions(), stateDelta: { seen: true } } });

  await app.inject({ method: 'POST', url: sessionPath('s'), payload: { events: [event], state: { a: 1 } } });
  const answer = await app.inject(sessionPath('s'));

  expect(answer.json()).toMatchObject({ state: { a: 1, seen: true }, events: [JSON.parse(eventJson(event))] });
});

it('lists sessions as a bare array without events', async () => {
  const { app } = await server();
  expect((await app.inject(sessions)).json()).toEqual([]);

  await app.inject({ method: 'POST', url: sessionPath('s'), payload: { events: [says('x')], state: { a: 1 } } });

  expect((await app.inject(sessions)).json()).toMatchObject([{ id: 's', state: { a: 1 }, events: [] }]);
});

it('reads the last events of a session when asked to', async () => {
  const { app } = await server();
  const events = ['one', 'two', 'three'].map((text) => says(text));
  await app.inject({ method: 'POST', url: sessionPath('s'), payload: { events } });

  const answer = await app.inject(`${sessionPath('s')}?num_recent_events=1`);
  const page = await app.inject(`${sessionPath('s')}/events?pageSize=2`);

  expect(answer.json<{ events: object[] }>().events).toEqual([JSON.parse(eventJson(events[2]!))]);
  expect(page.json<{ events: object[] }>().events).toHaveLength(2);
  expect(page.json()).toHaveProperty('nextPageToken');
});

it('sends a long session whole, in pieces', async () => {
  const { app, services } = await server();
  const events = Array.from({ length: 1203 }, (_, index) => says(`number ${index} — ünïcode`));
  events[700] = says('€'.repeat(200_000)); // more than a piece holds
  await services.sessions.createSession({ appName: 'demo', userId: 'u' }, { sessionId: 's', events });

  const answer = await app.inject(sessionPath('s'));

  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json<{ events: object[] }>().events).toEqual(events.map((event) => JSON.parse(eventJson(event))));
});

it.each(['stateDelta', 'state_delta'])('changes the state through %s and says so in an event', async (key) => {
  const { app } = await server();
  await app.inject({ method: 'POST', url: sessionPath('s'), payload: { state: { old: 1, gone: 1 } } });

  const answer = await app.inject({
    method: 'PATCH',
    url: sessionPath('s'),
    payload: { [key]: { new: 2, gone: null } },
  });

  expect(answer.json()).toMatchObject({ state: { old: 1, new: 2 } });
  const { events } = answer.json<{ events: { author: string; invocationId: string; content?: object }[] }>();
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ author: 'user', actions: { stateDelta: { new: 2, gone: null } } });
  expect(events[0]?.invocationId).toMatch(/^p-[\da-f-]{36}$/);
  expect(events[0]).not.toHaveProperty('content');
});

it('deletes a session with all that belongs to it', async () => {
  const forgotten: SessionKey[] = [];
  const { app, services } = await server({ traces: { forget: (key) => void forgotten.push(key) } });
  const key = { appName: 'demo', userId: 'u', sessionId: 's' };
  await app.inject({ method: 'POST', url: sessionPath('s'), payload: { events: [says('parrots')] } });
  await services.artifacts.saveArtifact(key, 'note.txt', { text: 'x' });
  await services.memories.addSessionToMemory((await services.sessions.getSession(key))!);

  const answer = await app.inject({
    method: 'DELETE',
    url: sessionPath('s'),
    headers: { 'content-type': 'application/json' },
  });

  expect([answer.statusCode, answer.body]).toEqual([200, 'null']);
  expect((await app.inject(sessionPath('s'))).statusCode).toBe(404);
  expect(await services.artifacts.listArtifactKeys(key)).toEqual([]);
  expect(await services.memories.searchMemory(key, 'parrots')).toEqual([]);
  expect(forgotten).toEqual([key]);
});

it('deletes a session that is not there without complaint', async () => {
  const { app } = await server();

  expect((await app.inject({ method: 'DELETE', url: sessionPath('gone') })).statusCode).toBe(200);
});

it.each([
  ['POST', sessions, { state: 'abc' }],
  ['POST', sessions, []],
  ['POST', sessions, { sessionId: 'a\u0000b' }],
  ['POST', sessions, { sessionId: { toString: 1 } }],
  ['POST', sessionPath('s'), 'text'],
  ['POST', sessionPath('s'), { state: 'abc' }],
  ['POST', sessionPath('a%00b'), {}],
  ['POST', sessionPath('a%2fb'), {}],
  ['POST', sessionPath('x'.repeat(257)), {}],
  ['PATCH', sessionPath('s'), {}],
  ['PATCH', sessionPath('s'), { stateDelta: [1] }],
] as const)('refuses %s %s with %j', async (method, url, payload) => {
  const { app } = await server();
  await app.inject({ method: 'POST', url: sessionPath('s0') });

  const answer = await app.inject({
    method,
    url,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(payload),
  });

  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ status: 400, issues: [{ message: expect.any(String) }] });
});

it('answers the newest events first, and those around an event', async () => {
  const { app, services } = await server();
  const events = Array.from({ length: 30 }, (_, index) => says(`${index}`, { id: `event-${index}` }));
  await services.sessions.createSession({ appName: 'demo', userId: 'u' }, { sessionId: 's', events });
  const read = async (query: string): Promise<unknown> =>
    (await app.inject(`${sessionPath('s')}/events?${query}`)).json();

  expect(await read('order=desc&page_size=2')).toMatchObject({
    events: [{ id: 'event-29' }, { id: 'event-28' }],
    total: 30,
  });
  expect(await read('after=event-10&pageSize=1')).toMatchObject({ events: [{ id: 'event-11' }] });
  expect(await read('before=event-10&order=desc&pageSize=1')).toMatchObject({ events: [{ id: 'event-9' }] });
  expect(await read('from=event-10&pageSize=1')).toMatchObject({ events: [{ id: 'event-10' }] });
  expect(await read('after=nobody')).toMatchObject({ code: 'event_not_found', status: 404 });
  expect(await read('order=upwards')).toMatchObject({ code: 'invalid_request', status: 400 });
});
