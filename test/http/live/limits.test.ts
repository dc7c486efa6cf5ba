import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { LiveClient } from '../../support/live-client.ts';
import { rawClient } from '../raw-client.ts';
import { says } from '../server.ts';
import { echo, liveServer, silent } from './scene.ts';

const soundOf = (bytes: number) =>
  says('', {
    partial: true,
    content: { role: 'model', parts: [{ inlineData: { mimeType: 'audio/pcm', data: 'A'.repeat(bytes) } }] },
  });

it('keeps all messages of a client that talks faster than its agent listens', async () => {
  const gate = Promise.withResolvers<void>();
  const { connect } = await liveServer(async function* (input) {
    await gate.promise;
    yield* echo(input);
  });
  const client = await connect();

  for (let index = 0; index < 6_000; index += 1) client.say(`${index}`);
  client.send({ close: true });
  await setImmediate();
  gate.resolve();
  await client.closed;

  expect(client.frames).toHaveLength(6_000);
  expect(client.texts.at(-1)).toContain('5999');
});

it('drops sound, and nothing else, for a client that does not keep up', async () => {
  const all = Promise.withResolvers<void>();
  const { connect } = await liveServer(async function* () {
    for (let sent = 0; sent < 600; sent += 1) {
      yield soundOf(64 * 1024);
      await setImmediate();
    }
    all.resolve();
    yield says('That was all.');
  });
  const client = await connect();
  client.socket.pause();

  await all.promise;
  client.socket.resume();
  await client.closed;

  expect(client.frames.length).toBeLessThan(500);
  expect(client.frames.at(-1)?.content?.parts[0]?.text).toBe('That was all.');
});

it('makes an agent wait for a client that does not keep up', async () => {
  let sent = 0;
  const { connect } = await liveServer(async function* () {
    for (; sent < 600; sent += 1) yield says('x'.repeat(64 * 1024));
  });
  const client = await connect();
  client.socket.pause();

  for (let round = 0; round < 1_000; round += 1) await setImmediate();
  const whilePaused = sent;
  client.socket.resume();
  await client.closed;

  expect(whilePaused).toBeLessThan(600);
  expect(client.frames).toHaveLength(600);
});

it('leaves a client that does not answer', async () => {
  const { url, asked } = await liveServer(silent, { livePingMs: 20 });
  const socket = new WebSocket(`${url}/run_live?app_name=demo&user_id=u&session_id=s`, { autoPong: false });
  onTestFinished(() => socket.terminate());

  const closed = await new Promise((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });

  expect(closed).toEqual({ code: 1008, reason: 'The client does not answer, or reads too slowly' });
  expect(asked[0]?.signal.aborted).toBe(true);
});

it('leaves a client with whom nothing was talked about for long', async () => {
  const { connect } = await liveServer(echo, { livePingMs: 10, liveIdleMs: 40 });
  const client = await connect();

  expect(await client.closed).toEqual({ code: 1001, reason: 'The connection was idle for too long' });
});

it('closes with 1009 after a message that is too large, and with 1007 after text that is none', async () => {
  const { connect } = await liveServer(echo, { bodyLimitBytes: 10_000 });
  const [talker, mumbler] = [await connect(), await connect()];

  talker.say('x'.repeat(20_000));
  mumbler.socket.send(Buffer.from([0xc3, 0x28]), { binary: false });

  expect((await talker.closed).code).toBe(1009);
  expect((await mumbler.closed).code).toBe(1007);
});

const handshake =
  'GET /run_live?app_name=demo&user_id=u&session_id=s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n' +
  'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

it.each([
  ['an unmasked frame', [0x81, 0x02, 0x68, 0x69]],
  ['reserved bits', [0xf1, 0x82, 0, 0, 0, 0, 0x68, 0x69]],
  ['an unknown kind of frame', [0x83, 0x80, 0, 0, 0, 0]],
  ['a continuation of nothing', [0x80, 0x80, 0, 0, 0, 0]],
  ['a ping that is too long', [0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0]],
  ['a length beyond all bounds', [0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ['a close frame of one byte', [0x88, 0x81, 0, 0, 0, 0, 0x03]],
  ['half a frame', [0x81, 0xfe]],
  ['a reset', undefined],
])('survives %s', async (_name, bytes) => {
  const { url, connect } = await liveServer(echo);
  const { socket, ended } = await rawClient(url);
  socket.write(handshake);
  await setImmediate();

  if (bytes) socket.end(Buffer.from(bytes));
  else socket.resetAndDestroy();
  await ended;
  const client = await connect();
  client.say('still there');

  expect((await client.frame(() => true)).content).toBeDefined();
});

it.each([
  ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: 12'],
  ['dGhlIHNhbXBsZSBub25jZQ==', 'short'],
  ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n', ''],
])('refuses a handshake with %s turned into "%s"', async (from, to) => {
  const { url, connect } = await liveServer(echo);
  const { socket, received, ended } = await rawClient(url);

  socket.write(handshake.replace(from, to));
  await ended;

  expect(received()).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(await connect()).toBeInstanceOf(LiveClient);
});
