import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, sessionsPath, textOf } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const json = { 'content-type': 'application/json' };

const texts: readonly [string, string][] = [
  ['accents and CJK', 'Grüße 你好 こんにちは'],
  ['emoji with joiners', '👩‍🚀👨‍👩‍👧‍👦🏳️‍🌈'],
  ['right-to-left and override marks', 'مرحبا \u202Eabc\u202C'],
  ['combining marks', 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢'],
  ['zero-width characters', 'a\u200B\u200C\u200D\uFEFFb'],
  ['line and paragraph separators', 'a\u2028b\u2029c'],
  ['line breaks and tabs', 'a\nb\r\nc\td'],
  ['an SSE frame', 'x\n\ndata: {"error":"fake"}\n\n'],
  ['control characters', 'a\u0001\u0007\u001b[31mb\u007f'],
  ['quotes and slashes', '"\'\\/</script><!--'],
  ['a template', '{state_key} ${process.env.HOME} {{x}} $1 $& {artifact.x}'],
  ['the end of Unicode', '\u{10FFFF}\uFFFF'],
];

it.each(texts)('keeps %s in messages, state and streams exactly', async (_name, text) => {
  const { id, path } = await newSession(server.client, 'chat', { state: { text, [text]: 1 } });

  await runEvents(server.client, runBody('chat', id, text, { stateDelta: { again: text } }));
  const streamed = await (await server.process.sse('/run_sse', runBody('chat', id, text))).all();

  expect(streamed).toHaveLength(1);
  const session = await readSession(server.client, path);
  expect(session.state).toEqual({ text, [text]: 1, again: text });
  expect(session.events.map(textOf)).toEqual([text, 'Hello!', text, 'Hello!']);
});

it.each([
  ['a NUL', 'a\u0000b'],
  ['a lone high surrogate', 'a\uD83D b'],
  ['a lone low surrogate', 'a\uDE00 b'],
])('keeps %s in messages and state', async (_name, text) => {
  const { id, path } = await newSession(server.client, 'chat', { state: { text } });

  await runEvents(server.client, runBody('chat', id, text));

  const session = await readSession(server.client, path);
  expect(session.state).toEqual({ text });
  expect(textOf(session.events[0])).toBe(text);
});

const badNames: readonly [string, string][] = [
  ['a NUL', 'a\u0000b'],
  ['a control character', 'a\u0007b'],
  ['a line break', 'a\nb'],
  ['a C1 control character', 'a\u0085b'],
  ['a line separator', 'a\u2028b'],
  ['a lone surrogate', 'a\uD800b'],
  ['a slash', 'a/b'],
  ['a backslash', 'a\\b'],
  ['only a dot', '.'],
  ['only two dots', '..'],
  ['a path', '../../etc/passwd'],
  ['nothing', ''],
  ['only a space', ' '],
];

it.each(['appName', 'userId', 'sessionId'].flatMap((field) => badNames.map((entry) => [field, ...entry] as const)))(
  'refuses a run whose %s holds %s',
  async (field, _name, value) => {
    // JSON.stringify writes a lone surrogate as an escape, so it reaches the server as it is.
    const answer = await server.client.post('/run', { ...runBody('chat', 'any', 'hi'), [field]: value });

    expect(answer).toBeProblem(400);
  },
);

it.each(badNames.filter(([, value]) => value.trim() !== ''))(
  'refuses to create a session whose id holds %s',
  async (_name, sessionId) => {
    expect(await server.client.post(sessionsPath('chat', 'names'), { sessionId })).toBeProblem(400);
  },
);

it.each(badNames.filter(([, value]) => value !== 'a/b'))(
  'refuses to save an artifact whose name holds %s',
  async (_name, filename) => {
    const { path } = await newSession(server.client, 'chat');

    expect(await server.client.post(`${path}/artifacts`, { filename, artifact: { text: 'hi' } })).toBeProblem(400);
  },
);

it.each([
  'Zoë',
  '你好',
  'a b',
  'a%b',
  'a+b',
  'a#b',
  'a?b',
  'ann@example.org',
  'a:b',
  '~',
  'null',
  '0',
  '-1',
  "'; DROP TABLE sessions; --",
])('takes %s as a user and as a session', async (name) => {
  const path = `${sessionsPath('chat', encodeURIComponent(name))}/${encodeURIComponent(name)}`;
  const created = await server.client.post(path, { state: { a: 1 } });

  expect(created).toHaveStatus(200);
  expect(created.json).toMatchObject({ id: name, userId: name });
  expect(await readSession(server.client, path)).toMatchObject({ id: name, state: { a: 1 } });
  expect((await server.client.delete(path)).status).toBe(200);
});

const protoBodies: readonly [string, string][] = [
  ['__proto__', '{"__proto__":{"polluted":true},"a":1}'],
  ['constructor', '{"constructor":{"prototype":{"polluted":true}},"a":1}'],
  ['prototype', '{"prototype":{"polluted":true},"a":1}'],
  ['nested __proto__', '{"a":{"__proto__":{"polluted":true}}}'],
  ['hasOwnProperty', '{"hasOwnProperty":1,"toString":2,"valueOf":3,"a":1}'],
];

it.each(protoBodies)('treats the key %s in state, deltas and bodies as data', async (_name, state) => {
  const wrapped = await server.client.send('POST', sessionsPath('chat'), { body: `{"state":${state}}`, headers: json });
  const raw = await server.client.send('POST', `${sessionsPath('chat')}/${crypto.randomUUID()}`, {
    body: state,
    headers: json,
  });
  const { path, id } = await newSession(server.client, 'chat');
  const patched = await server.client.send('PATCH', path, { body: `{"stateDelta":${state}}`, headers: json });
  const body = JSON.stringify(runBody('chat', id, 'hi', { stateDelta: 0 })).replace(
    '"stateDelta":0',
    `"stateDelta":${state}`,
  );
  const ran = await server.client.send('POST', '/run', { body, headers: json });

  for (const answer of [wrapped, raw, patched, ran]) {
    expect(answer).toBeAnyOf([200, 400]);
  }
  const fresh = await newSession(server.client, 'chat');
  const session = await readSession(server.client, fresh.path);
  expect(session.state).toEqual({});
  expect(JSON.stringify(await runEvents(server.client, runBody('chat', fresh.id, 'hi')))).not.toContain('polluted');
});

it('keeps harmless names of Object.prototype as state keys', async () => {
  const state = { hasOwnProperty: 1, toString: 2, constructor: 3 };
  const { path } = await newSession(server.client, 'chat', { state });

  expect((await readSession(server.client, path)).state).toEqual(state);
});

it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
  'takes %s for a name like any other, or refuses it',
  async (name) => {
    const path = `${sessionsPath('chat', name)}/${name}`;
    const before = await server.client.get(path);
    const created = await server.client.post(path, {});
    const app = await server.client.post(sessionsPath(name), {});
    const run = await server.client.post('/run', runBody(name, 'x', 'hi'));

    expect([400, 404]).toContain(before.status);
    expect([200, 400]).toContain(created.status);
    for (const answer of [app, run]) expect([400, 404]).toContain(answer.status);
    expect((await server.client.get(`${sessionsPath('chat', 'plain')}/toString`)).status).toBe(404);
  },
);
