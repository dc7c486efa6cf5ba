import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveClient, outline } from '../../support/live-client.ts';
import { type LiveBed, openLiveBed } from './bed.ts';

const chat = { name: 'chat', model: 'scripted', instruction: 'Chat.', script: [{ text: 'Hi!' }] };
let bed: LiveBed;
beforeAll(async () => {
  bed = await openLiveBed({ chat: { 'root_agent.yaml': chat } });
});
afterAll(() => bed.close());

async function answers(): Promise<void> {
  const client = await LiveClient.connect(bed.url, await bed.session('chat'));
  expect(outline(await client.ask('hello'))).toEqual(['chat: Hi!', 'chat: turnComplete']);
  await client.close();
}

it('survives any bytes in the place of frames', async () => {
  const { sessionId } = await bed.session('chat');
  const { port } = new URL(bed.url);
  const handshake =
    `GET /run_live?app_name=chat&user_id=u&session_id=${sessionId} HTTP/1.1\r\nHost: localhost\r\n` +
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {}); // a reset is one of the answers
      await once(socket, 'connect');
      socket.resume().write(handshake);
      socket.end(bytes);
      await once(socket, 'close');
    }),
    { numRuns: 100 },
  );

  await answers();
  expect(bed.server.stderr).not.toMatch(/"level":(?:50|60)/);
});

it('answers any JSON, and goes on', async () => {
  const client = await LiveClient.connect(bed.url, await bed.session('chat'));
  const key = fc.constantFrom(
    'content',
    'blob',
    'close',
    'activityStart',
    'activity_end',
    'parts',
    'mimeType',
    'data',
    '',
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      fc.dictionary(key, tie('any')),
      fc.array(tie('any'), { maxLength: 3 }),
    ),
  })).any;

  await fc.assert(
    fc.asyncProperty(value, async (message) => {
      fc.pre((message as { close?: unknown } | null)?.close !== true);
      client.socket.send(JSON.stringify(message));
      await new Promise((resolve) => {
        client.socket.once('pong', resolve);
        client.socket.ping();
      });
      expect(client.socket.readyState).toBe(client.socket.OPEN);
    }),
    { numRuns: 200 },
  );

  expect(outline(await client.ask('hello')).at(-1)).toBe('chat: turnComplete');
  await client.close();
});

it('tells its clients why it goes, and goes, when it is told to', async () => {
  const other = await openLiveBed({
    chat: { 'root_agent.yaml': { ...chat, script: [{ text: 'late', delayMs: 60_000 }] } },
  });
  const idle = await LiveClient.connect(other.url, await other.session('chat'));
  const busy = await LiveClient.connect(other.url, await other.session('chat'));
  busy.say('hello');
  busy.socket.ping();
  await once(busy.socket, 'pong');

  await other.close();

  const closed = { code: 1001, reason: 'The server is shutting down' };
  expect([await idle.closed, await busy.closed]).toEqual([closed, closed]);
});
