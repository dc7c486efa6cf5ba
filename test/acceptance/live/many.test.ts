import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LiveClient } from '../../support/live-client.ts';
import { LiveDouble } from '../../support/live-double.ts';
import { type Key, type LiveBed, openLiveBed } from './bed.ts';

const double = await LiveDouble.start();
let bed: LiveBed;
beforeAll(async () => {
  const chat = { name: 'chat', model: 'scripted', instruction: 'Chat.', script: [{ text: 'Hi!' }] };
  const voice = { name: 'voice', model: 'gemini-live-2.5-flash-preview', instruction: 'Speak.' };
  bed = await openLiveBed(
    { chat: { 'root_agent.yaml': chat }, voice: { 'root_agent.yaml': voice } },
    { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url },
  );
});
beforeEach(() => double.forget());
afterAll(async () => {
  await bed.close();
  await double.close();
});

/** Sockets, files and timers' descriptors the server holds. */
const descriptors = (): number => readdirSync(`/proc/${bed.server.pid}/fd`).length;
const megabytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${bed.server.pid}/status`, 'utf8'))?.[1]) / 1024;

async function settled(atMost: number): Promise<number> {
  for (let round = 0; round < 200 && descriptors() > atMost; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return descriptors();
}

async function cycle(key: Key, index: number): Promise<void> {
  const client = await LiveClient.connect(bed.url, key);
  if (index % 3 === 0) await client.ask('hello');
  if (index % 2 === 0) client.socket.terminate();
  else client.socket.close();
  await client.closed;
}

it.runIf(process.platform === 'linux')('leaves nothing behind after 1,000 connections', async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, () => bed.session('chat')));
  for (const key of keys) await cycle(key, 0);
  await bed.session('chat');
  const before = descriptors();
  const memory = megabytes();

  await Promise.all(
    keys.map(async (key) => {
      for (let index = 0; index < 100; index += 1) await cycle(key, index);
    }),
  );

  expect(await settled(before + 2)).toBeLessThanOrEqual(before + 2);
  expect(megabytes() - memory).toBeLessThan(100);
});

it.runIf(process.platform === 'linux')('leaves no connection to the model behind', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => bed.session('voice')));
  const warmUp = await LiveClient.connect(bed.url, keys[0]!);
  await double.connection();
  await warmUp.close();
  await double.connections[0]!.closed;
  const before = descriptors();

  await Promise.all(
    keys.map(async (key) => {
      for (let index = 0; index < 20; index += 1) {
        const client = await LiveClient.connect(bed.url, key);
        client.socket.send(Buffer.alloc(10));
        client.socket[index % 2 === 0 ? 'terminate' : 'close']();
        await client.closed;
      }
    }),
  );
  await Promise.all(double.connections.map(({ closed }) => closed));

  expect(await settled(before + 2)).toBeLessThanOrEqual(before + 2);
});

it.runIf(process.platform === 'linux')('keeps 500 idle connections in little memory', async () => {
  const keys = await Promise.all(Array.from({ length: 500 }, () => bed.session('chat')));
  const before = megabytes();

  const clients = await Promise.all(keys.map((key) => LiveClient.connect(bed.url, key)));
  await Promise.all(clients.map((client) => client.ask('hello')));
  const grown = megabytes() - before;
  await Promise.all(clients.map((client) => client.close()));

  expect(grown).toBeLessThan(60);
});
