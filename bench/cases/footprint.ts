import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as adk from '../adk.ts';
import type { Bench } from '../bench.ts';
import { drive, median } from '../load.ts';
import { megabytes, ms, times, type Row } from '../report.ts';

const STARTS = 5;
const SETTLE_MS = 2000;
const SILENT_CLIENTS = 10;

/** Time from the process's start to its first answer, and the memory of a server that waits. */
export async function measureStart(bench: Bench): Promise<Row[]> {
  const ready: number[] = [];
  const bareReady: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    ready.push((await bench.start(['quick'])).readyMs);
    await bench.stopAll();
    bareReady.push((await bench.startBare('fastify')).readyMs);
    await bench.stopAll();
  }
  const server = await bench.start(['quick']);
  const bare = await bench.startBare('fastify');
  await sleep(SETTLE_MS);
  const resident = server.residentBytes();
  const bareResident = bare.residentBytes();
  await bench.stopAll();
  return [
    {
      name: 'start to first 200',
      figure: ms(median(ready)),
      bare: ms(median(bareReady)),
      ratio: times(median(ready) / median(bareReady)),
      goal: { text: '<= 1,000 ms', met: median(ready) <= 1000 },
    },
    {
      name: 'RSS, idle',
      figure: megabytes(resident),
      bare: megabytes(bareResident),
      ratio: times(resident / bareResident),
      goal: { text: '<= 110 MB', met: resident <= 110 * 1024 * 1024 },
    },
  ];
}

/** What a client costs that asks for a long stream and never reads it. */
export async function measureSilentClients(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['flood']);
  const ids = Array.from({ length: SILENT_CLIENTS }, (_, index) => `silent-${index}`);
  const creations = ['reader', ...ids].map((id) => adk.createSession('flood', id));
  await drive({ port: server.port, concurrency: 1, requests: creations });
  // One client that reads to the end brings the code and the heap to their working size.
  const read = await drive({ port: server.port, concurrency: 1, requests: [adk.runSse('flood', 'reader')] });
  await sleep(SETTLE_MS);
  const before = server.residentBytes();

  const sockets: Socket[] = [];
  for (const id of ids) {
    const socket = connect({ port: server.port, host: '127.0.0.1' }).pause();
    await once(socket, 'connect');
    socket.write(adk.runSse('flood', id));
    sockets.push(socket);
  }
  await sleep(SETTLE_MS);
  const cost = (server.residentBytes() - before) / SILENT_CLIENTS;
  for (const socket of sockets) socket.destroy();
  await bench.stopAll();
  return [
    {
      name: `a client that never reads ${megabytes(read.bytes)}`,
      figure: `${megabytes(cost)} RSS each`,
      goal: { text: '<= 1 MB', met: cost <= 1024 * 1024 },
    },
  ];
}
