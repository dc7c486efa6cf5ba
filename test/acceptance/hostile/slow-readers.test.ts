import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, runBody, runEvents } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { openRaw, type RawConnection, requestText } from './raw-http.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

/** Resident memory of the server process in megabytes, as the kernel counts it. */
function residentMegabytes(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
}

/** A client that asks for 20 MB and reads nothing but what the kernel takes for it. */
async function openStalled(): Promise<RawConnection> {
  const { id } = await newSession(server.client, 'flood');
  const connection = await openRaw(server.url);
  connection.socket.pause();
  const body = JSON.stringify(runBody('flood', id, 'flood', { streaming: true }));
  connection.write(requestText('POST', '/run_sse', { host: new URL(server.url).host, body }));
  return connection;
}

it.runIf(process.platform === 'linux')(
  'holds its memory while 30 readers of 20 MB each never read, and serves others meanwhile',
  { timeout: 120_000 },
  async () => {
    const warm = await newSession(server.client, 'flood');
    await server.client.post('/run_sse', runBody('flood', warm.id, 'flood', { streaming: true }));
    const before = residentMegabytes();
    const stalled: RawConnection[] = [];
    for (let count = 0; count < 30; count += 1) stalled.push(await openStalled());
    const readings: number[] = [];
    for (let second = 0; second < 8; second += 1) {
      await sleep(1_000);
      readings.push(residentMegabytes() - before);
      expect(await runEvents(server.client, runBody('flood', warm.id, 'hi'))).toHaveLength(1);
    }

    for (const connection of stalled) connection.destroy();
    // Without back-pressure this would be 600 MB and more. V8 may collect 100 MB of garbage late on a busy machine.
    expect(Math.max(...readings)).toBeLessThan(200);
    expect((await server.client.get('/health')).status).toBe(200);
  },
);

it('gives a reader that pauses and goes on every byte in order', { timeout: 60_000 }, async () => {
  const { id } = await newSession(server.client, 'flood');
  const connection = await openRaw(server.url);
  const body = JSON.stringify(runBody('flood', id, 'flood', { streaming: true }));
  connection.write(requestText('POST', '/run_sse', { host: new URL(server.url).host, body }));
  for (let pause = 0; pause < 3; pause += 1) {
    await sleep(200);
    connection.socket.pause();
    await sleep(300);
    connection.socket.resume();
  }

  const received = await connection.closed();

  expect(received.match(/data: \{/g)).toHaveLength(20_001);
  expect(received.match(/"partial":true/g)).toHaveLength(20_000);
});
