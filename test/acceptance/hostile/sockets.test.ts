import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, newSession, readSession, runBody, runEvents } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { openRaw, parseResponse, requestText } from './raw-http.ts';

let server: ProbeServer;
let host = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ host } = new URL(server.url));
});
afterAll(() => server.stop());

const isServing = async (): Promise<boolean> => (await server.client.get('/health')).status === 200;

/** The answer a connection got, or none when the server just closed it, which is a fair reply to nonsense. */
const answersIn = (received: string): Answer[] => (received === '' ? [] : [parseResponse(received)]);

it.each([
  ['noise', 'kjhsdf kjh sdfkjh\r\n\r\n'],
  ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
  ['NULs', '\u0000'.repeat(100)],
  ['HTTP/0.9', 'GET /list-apps\r\n'],
  ['an unknown version', 'GET /list-apps HTTP/9.9\r\nhost: HOST\r\n\r\n'],
  ['a header without a name', 'GET /list-apps HTTP/1.1\r\n: x\r\n\r\n'],
  ['a header with a space in its name', 'GET /list-apps HTTP/1.1\r\nho st: x\r\n\r\n'],
  ['a negative length', 'POST /run HTTP/1.1\r\nhost: HOST\r\ncontent-length: -1\r\n\r\n'],
  ['two lengths', 'POST /run HTTP/1.1\r\nhost: HOST\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\n{}'],
  [
    'a length and chunks',
    'POST /run HTTP/1.1\r\nhost: HOST\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'a bad chunk size',
    'POST /run HTTP/1.1\r\nhost: HOST\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n',
  ],
  ['a bare line feed smuggle', 'GET /list-apps HTTP/1.1\nhost: HOST\nGET /other HTTP/1.1\n\n'],
])('answers %s with a JSON 400 or closes', async (_name, bytes) => {
  const connection = await openRaw(server.url);
  connection.write(Buffer.from(bytes.replaceAll('HOST', host), 'latin1'));
  connection.socket.end();

  const answers = answersIn(await connection.closed());

  for (const answer of answers) expect(answer).toBeAnyOf([400, 403, 505]);
  expect(await isServing()).toBe(true);
});

it('serves others while 200 connections stay half open', async () => {
  const idle = await Promise.all(Array.from({ length: 200 }, () => openRaw(server.url)));
  for (const [index, connection] of idle.entries()) {
    if (index % 2 === 0)
      connection.write(
        `POST /run HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"appName":`,
      );
  }
  const { id } = await newSession(server.client, 'chat');

  expect(await runEvents(server.client, runBody('chat', id, 'hi'))).toHaveLength(1);

  for (const connection of idle) connection.destroy();
  expect(await isServing()).toBe(true);
});

it('answers a client that has closed its sending side', async () => {
  const { id } = await newSession(server.client, 'chat');
  const connection = await openRaw(server.url);
  connection.socket.end(requestText('POST', '/run', { host, body: JSON.stringify(runBody('chat', id, 'hi')) }));

  const answers = answersIn(await connection.closed());

  // A half-closed socket may count as a client that left.
  for (const answer of answers) expect(answer).toHaveStatus(200);
  expect(await isServing()).toBe(true);
});

it('answers pipelined requests in their order', async () => {
  const { path, id } = await newSession(server.client, 'chat');
  const connection = await openRaw(server.url);
  const request = (method: string, target: string, body?: string): string =>
    requestText(method, target, { host, headers: { connection: 'keep-alive' }, ...(body && { body }) });
  connection.write(
    request('GET', '/version') +
      request('POST', '/run', JSON.stringify(runBody('chat', id, 'slow'))) +
      request('GET', '/list-apps') +
      request('GET', '/nowhere'),
  );

  const received = await connection.until(
    (text) => text.split('HTTP/1.1 ').length === 5 && text.includes('"/nowhere"'),
  );
  connection.destroy();

  const [version, run, apps, missing] = received.split(/(?=HTTP\/1\.1 \d{3})/).map(parseResponse);
  expect([version!.status, run!.status, apps!.status, missing!.status]).toEqual([200, 200, 200, 404]);
  expect(version!.text).toContain('typescript');
  expect(run!.text).toContain('Slow and steady.');
  expect(apps!.text).toContain('"chat"');
  expect((await readSession(server.client, path)).events).toHaveLength(2);
});

it('does not read a second request out of the body of the first', async () => {
  const inner = `GET /list-apps HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
  const connection = await openRaw(server.url);
  connection.write(requestText('POST', '/run', { host, body: inner }));

  const received = await connection.closed();

  expect(received.match(/HTTP\/1\.1 \d{3}/g)).toHaveLength(1);
  expect(parseResponse(received).status).toBe(400);
});

it('survives clients that reset their connection at every stage', async () => {
  const { id } = await newSession(server.client, 'chat');
  const whole = requestText('POST', '/run_sse', {
    host,
    body: JSON.stringify(runBody('chat', id, 'crawl', { streaming: true })),
  });
  for (let cut = 0; cut <= whole.length; cut += 20) {
    const connection = await openRaw(server.url);
    connection.write(whole.slice(0, cut));
    connection.socket.resetAndDestroy();
  }

  expect(await isServing()).toBe(true);
  expect(await runEvents(server.client, runBody('chat', id, 'hi'))).toHaveLength(1);
});

it('waits politely for a client that expects 100-continue', async () => {
  const { id } = await newSession(server.client, 'chat');
  const body = JSON.stringify(runBody('chat', id, 'hi'));
  const connection = await openRaw(server.url);
  connection.write(
    requestText('POST', '/run', {
      host,
      headers: { expect: '100-continue', 'content-type': 'application/json', 'content-length': String(body.length) },
    }),
  );
  await connection.until((text) => text.startsWith('HTTP/1.1 100'));
  connection.write(body);

  const received = await connection.closed();

  expect(parseResponse(received.slice(received.indexOf('HTTP/1.1 200'))).status).toBe(200);
});
