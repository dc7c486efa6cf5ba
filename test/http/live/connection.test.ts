import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { LiveClient } from '../../support/live-client.ts';
import { rawClient } from '../raw-client.ts';
import { listen, says, server } from '../server.ts';
import { echo, key, liveServer, silent } from './scene.ts';

const failingWith = (error: Error) =>
  liveServer(async function* () {
    yield says('Well');
    throw error;
  });

it('sends each event as a text frame and closes with 1000 when the run is over', async () => {
  const { connect } = await liveServer(async function* () {
    yield says('one');
    yield says('two', { partial: true });
  });
  const client = await connect();

  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(client.frames.map(({ content }) => content?.parts[0]?.text)).toEqual(['one', 'two']);
  expect(client.frames[0]).toMatchObject({ id: expect.any(String), author: 'demo_agent', actions: { stateDelta: {} } });
});

it.each([
  [new AppError('session_not_found', 'Session not found: s'), 1002, 'Session not found: s'],
  [new AppError('app_not_found', 'App not found: demo'), 1008, 'App not found: demo'],
  [new AppError('session_busy', 'Session "s" has a run in progress'), 1013, 'Session "s" has a run in progress'],
  [new AppError('model_failed', `é${'x'.repeat(300)}`), 1011, `é${'x'.repeat(121)}`],
  [new AppError('model_failed', `${'x'.repeat(122)}é`), 1011, 'x'.repeat(122)],
  [new AppError('model_failed', 'bad key AIzaSyA1234567890'), 1011, 'bad key [redacted]'],
  [new Error('out of order'), 1011, expect.stringMatching(/^Error: out of order \(at test\/http\/live\/.*\.ts:\d+\)$/)],
])('closes after %s with code and reason', async (error, code, reason) => {
  const { connect } = await failingWith(error);
  const client = await connect();

  expect(await client.closed).toEqual({ code, reason });
  expect(client.frames).toHaveLength(1);
});

it.each([
  ['', 'app_name query parameter is required and cannot be empty'],
  ['app_name=&user_id=u&session_id=s', 'app_name query parameter is required and cannot be empty'],
  ['app_name=demo&session_id=s', 'user_id query parameter is required and cannot be empty'],
  ['app_name=demo&user_id=u', 'session_id query parameter is required and cannot be empty'],
  ['app_name=demo&user_id=..&session_id=s', 'user_id holds a "." or ".." segment'],
  ['app_name=demo&user_id=u&session_id=a%00b', 'session_id holds a control character'],
  ['app_name=demo&app_name=other&user_id=u&session_id=s', 'appName: '],
  ['app_name=demo&user_id=u&session_id=s&modalities=SMELL', 'modalities: '],
  ['app_name=demo&user_id=u&session_id=s&save_live_blob=perhaps', 'saveLiveBlob: '],
])('closes with 1008 for the query "%s"', async (query, reason) => {
  const { url, asked } = await liveServer(echo);
  const client = new LiveClient(`${url.replace('http', 'ws')}/run_live?${query}`);

  const closed = await client.closed;

  expect(closed.code).toBe(1008);
  expect(closed.reason).toContain(reason);
  expect(asked).toEqual([]);
});

it('reads the query in both spellings', async () => {
  const { url, asked } = await liveServer(async function* () {});
  const settings = 'modalities=TEXT&modalities=audio&proactive_audio=1&enableAffectiveDialog=yes&save_live_blob=true';
  const more = 'enable_session_resumption=on&explicit_vad_signal=false&on_busy=reject';

  await new LiveClient(`${url}/run_live?app_name=demo&user_id=u&session_id=s&${settings}&${more}`).closed;
  await new LiveClient(`${url}/run-live?appName=demo&userId=u%20v&sessionId=s`).closed;

  expect(asked.map(({ request }) => request)).toEqual([
    {
      ...key,
      onRefused: expect.any(Function),
      onBusy: 'reject',
      runConfig: {
        responseModalities: ['TEXT', 'AUDIO'],
        proactivity: { proactiveAudio: true },
        enableAffectiveDialog: true,
        sessionResumption: {},
        explicitVadSignal: false,
        saveLiveBlob: true,
      },
    },
    { ...key, userId: 'u v', onRefused: expect.any(Function), onBusy: undefined, runConfig: {} },
  ]);
});

it('knows which app is meant when there is a default', async () => {
  const { url, asked } = await liveServer(async function* () {}, { defaultApp: 'demo' });

  await new LiveClient(`${url}/run_live?user_id=u&session_id=s`).closed;

  expect(asked[0]?.request.appName).toBe('demo');
});

it.each([
  [{ origin: 'http://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ host: 'evil.example' }, 403],
])('refuses to shake hands with %j', async (headers, status) => {
  const { url, asked } = await liveServer(echo);
  const client = new LiveClient(`${url}/run_live?app_name=demo&user_id=u&session_id=s`, headers);

  await expect(client.opened).rejects.toThrow(`Unexpected server response: ${status}`);
  expect(asked).toEqual([]);
});

it('shakes hands with pages of its own and of allowed origins', async () => {
  const { url, connect } = await liveServer(echo, { allowOrigins: ['https://ui.example'] });

  for (const origin of [url, 'https://ui.example']) {
    const client = await connect({ headers: { origin } });
    client.say('hi');
    expect((await client.frame(() => true)).content).toBeDefined();
  }
});

it('answers a plain request, and one that asks for another protocol, as HTTP', async () => {
  const { app } = await server();
  const url = await listen(app);

  const plain = await fetch(`${url}/run_live?app_name=demo&user_id=u&session_id=s`);
  const { socket, received } = await rawClient(url);
  socket.write(
    'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n',
  );
  await vi.waitUntil(() => received().includes('\r\n\r\n'));

  expect(plain.status).toBe(426);
  expect(plain.headers.get('upgrade')).toBe('websocket');
  expect(await plain.json()).toMatchObject({ code: 'upgrade_required', status: 426 });
  expect(received()).toMatch(/^HTTP\/1\.1 200 /);
});

it.each(['/health', '/nowhere', '/run_live/x'])('opens no WebSocket at %s', async (path) => {
  const { app } = await server();
  const client = new LiveClient((await listen(app)) + path);

  await expect(client.opened).rejects.toThrow(/^Unexpected server response: (?:200|404)$/);
});

it('ends the input of an agent that waits when its client leaves, and cancels one that works', async () => {
  const seen: unknown[] = [];
  const waiting = await liveServer(async function* (input, signal) {
    for await (const heard of input) yield says(heard.kind);
    seen.push('ended', signal.aborted);
  });
  const working = await liveServer(async function* (_input, signal) {
    yield says('Well');
    await once(signal, 'abort');
    seen.push((signal.reason as AppError).code);
  });

  const first = await waiting.connect();
  first.say('hi');
  await first.frame(() => true);
  await first.close();
  await vi.waitUntil(() => seen.length === 2);
  const second = await working.connect();
  await second.frame(() => true);
  second.socket.terminate();
  await vi.waitUntil(() => seen.length === 3);

  expect(seen).toEqual(['ended', false, 'run_cancelled']);
});

it('tells its clients when the server goes', async () => {
  const { app, connect } = await liveServer(silent);
  const clients = [await connect(), await connect()];

  await app.close();

  const shown = { code: 1001, reason: 'The server is shutting down' };
  expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual([shown, shown]);
});
