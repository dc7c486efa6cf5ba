import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, sessionsPath, textOf } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { openRaw, parseResponse, requestText, sendRaw } from './raw-http.ts';

let server: ProbeServer;
let id = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ id } = await newSession(server.client, 'chat'));
});
afterAll(() => server.stop());

const megabyte = 1024 * 1024;
const json = { 'content-type': 'application/json' };
const nest = (depth: number, open: string, close: string): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

it.each([
  ['lists', nest(100_000, '[', ']')],
  ['objects', nest(100_000, '{"a":', '}')],
  ['lists a little too deep', nest(120, '[', ']')],
  ['objects a little too deep', nest(120, '{"a":', '}')],
  ['lists without end', '['.repeat(1_000_000)],
  ['objects without end', '{"a":'.repeat(200_000)],
])('refuses nested %s with 400', async (_name, value) => {
  const bodies: [string, string][] = [
    [
      '/run',
      JSON.stringify(runBody('chat', id, 'hi', { stateDelta: {} })).replace(
        '"stateDelta":{}',
        `"stateDelta":{"a":${value}}`,
      ),
    ],
    [sessionsPath('chat'), `{"state":{"a":${value}}}`],
    [`${sessionsPath('chat')}/deep`, value],
  ];
  for (const [path, body] of bodies) {
    expect(await server.client.send('POST', path, { body, headers: json })).toBeProblem(400);
  }
});

it('takes a state of ordinary depth, and brackets inside texts', async () => {
  const state = { deep: JSON.parse(nest(40, '{"a":[', ']}')) as unknown, text: '[{'.repeat(500), tricky: '\\"[[[\\' };

  const { path } = await newSession(server.client, 'chat', { state });

  expect((await readSession(server.client, path)).state).toEqual(state);
});

it('takes a body just under 10 MB and answers one above with 413', async () => {
  const { path, id: big } = await newSession(server.client, 'chat');
  const fits = runBody('chat', big, 'x'.repeat(9 * megabyte));
  const tooBig = runBody('chat', big, 'x'.repeat(11 * megabyte));

  // Ten times: a server that closes without reading on resets some of the connections before they read its answer.
  for (let count = 0; count < 10; count += 1) {
    expect(await server.client.post('/run', tooBig)).toBeProblem(413, 'too_large');
  }
  expect((await server.client.post('/run', fits)).status).toBe(200);
  const { events } = await readSession(server.client, path);
  expect(events).toHaveLength(2);
  expect(textOf(events[0])).toHaveLength(9 * megabyte);
});

it('answers 413 to a length it will not take before the body has come', async () => {
  const connection = await openRaw(server.url);
  const { host } = new URL(server.url);
  connection.write(
    requestText('POST', '/run', {
      host,
      headers: { 'content-type': 'application/json', 'content-length': String(500 * megabyte) },
    }),
  );

  const received = await connection.until((text) => text.includes('}'));

  expect(parseResponse(received).status).toBe(413);
  connection.destroy();
});

it('answers 413 to a chunked body once it is too large', async () => {
  const connection = await openRaw(server.url);
  const { host } = new URL(server.url);
  connection.write(
    requestText('POST', '/run', {
      host,
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    }),
  );
  const chunk = 'x'.repeat(megabyte);
  for (let sent = 0; sent < 12; sent += 1) connection.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);

  const received = await connection.until((text) => text.includes('\r\n\r\n') && text.includes('}'));

  expect(parseResponse(received).status).toBe(413);
  connection.destroy();
});

it.each<[string, number, (name: string) => string]>([
  ['app', 404, (name) => sessionsPath(name)],
  ['user', 200, (name) => sessionsPath('chat', name)],
  ['session', 200, (name) => `${sessionsPath('chat')}/${name}`],
])('takes 256 characters as the name of an %s (%i) and refuses 257 with 400', async (_kind, status, pathOf) => {
  const fits = await server.client.post(pathOf('n'.repeat(256)), {});
  const tooLong = await server.client.post(pathOf('n'.repeat(257)), {});
  const veryLong = await server.client.post(pathOf('n'.repeat(4_000)), {});

  expect(fits).toHaveStatus(status);
  for (const answer of [tooLong, veryLong]) expect(answer).toBeProblem(400);
});

it.each(['appName', 'userId', 'sessionId'])('refuses a run whose %s is longer than 256 characters', async (field) => {
  expect(await server.client.post('/run', { ...runBody('chat', id, 'hi'), [field]: 'n'.repeat(257) })).toBeProblem(400);
});

it('refuses a message of more than 1,000 parts, and takes 1,000', async () => {
  const { id: many } = await newSession(server.client, 'chat');
  const parts = (count: number): object => ({
    ...runBody('chat', many, ''),
    newMessage: { role: 'user', parts: Array.from({ length: count }, () => ({ text: 'x' })) },
  });

  expect(await server.client.post('/run', parts(1_001))).toBeProblem(400);
  expect((await server.client.post('/run', parts(1_000))).status).toBe(200);
});

it('takes a state of 10,000 keys', async () => {
  const state = Object.fromEntries(Array.from({ length: 10_000 }, (_unused, index) => [`key ${index}`, index]));

  const { path } = await newSession(server.client, 'chat', { state });

  expect((await readSession(server.client, path)).state).toEqual(state);
});

it('answers headers above its limit with 431 and stays alive', async () => {
  const { host } = new URL(server.url);
  const connection = await openRaw(server.url);
  connection.write(requestText('GET', '/list-apps', { host, headers: { 'x-large': 'h'.repeat(40_000) } }));

  const answer = parseResponse(await connection.closed());

  expect(answer.status).toBe(431);
  expect(JSON.parse(answer.text)).toMatchObject({ status: 431, code: 'headers_too_large' });
  expect((await runEvents(server.client, runBody('chat', id, 'hi'))).length).toBe(1);
});

it.each([
  ['a long path', `/${'p'.repeat(8_000)}`],
  ['a path of many segments', `/apps${'/a'.repeat(3_000)}`],
  ['a long query', `/list-apps?q=${'q'.repeat(8_000)}`],
])('answers %s with a JSON status', async (_name, target) => {
  const answer = await sendRaw(server.url, 'GET', target);

  expect([200, 400, 404, 414]).toContain(answer.status);
  expect(() => void JSON.parse(answer.text)).not.toThrow();
});
