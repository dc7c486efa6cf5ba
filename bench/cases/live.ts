import { WebSocket } from 'ws';
import * as adk from '../adk.ts';
import type { Bench } from '../bench.ts';
import type { ChildServer } from '../child-server.ts';
import { drive, median } from '../load.ts';
import { count, percent, times, type Row } from '../report.ts';

const CONNECTIONS = 16;
const ROUND_TRIPS = 400;
const LONG = 1000;
const question = JSON.stringify({ content: { role: 'user', parts: [{ text: 'Hello, how are you today?' }] } });

/** Text round trips over live connections beside those of a server that echoes frames, and the 1,000th of a conversation. */
export async function measureLive(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['echo']);
  const bare = await bench.startBare('echo');
  const trips = Math.ceil(ROUND_TRIPS * bench.scale);
  const rows: Row[] = [];
  for (const connections of [1, CONNECTIONS]) {
    const figures = { rate: [] as number[], cpu: [] as number[] };
    const bareFigures = { rate: [] as number[], cpu: [] as number[] };
    for (let round = 0; round <= bench.rounds; round += 1) {
      const amount = { connections, trips: connections === 1 ? trips * 4 : trips };
      const ours = await measured(server, await openTalks(server, `live-${connections}-${round}`, connections), amount);
      const echoes = await measured(bare, await openSockets(bare, connections), { ...amount, trips: amount.trips * 2 });
      if (round === 0) continue; // warms both up
      figures.rate.push(ours.rate);
      figures.cpu.push(ours.cpu);
      bareFigures.rate.push(echoes.rate);
      bareFigures.cpu.push(echoes.cpu);
    }
    const share = median(figures.rate) / median(bareFigures.rate);
    rows.push({
      name: `live text round trips, c ${connections}`,
      figure: `${count(median(figures.rate))}/s, ${median(figures.cpu).toFixed(1)} us CPU`,
      bare: `${count(median(bareFigures.rate))}/s, ${median(bareFigures.cpu).toFixed(1)} us CPU`,
      ratio: `${percent(share)}, ${times(median(figures.cpu) / median(bareFigures.cpu))} CPU`,
      goal: { text: '>= 30 %', met: share >= 0.3 },
    });
  }
  rows.push(await measureLongTalk(server));
  await bench.stopAll();
  return rows;
}

/** How long a turn takes when a thousand have gone before it, beside the first hundred. */
async function measureLongTalk(server: ChildServer): Promise<Row> {
  const [talk] = await openTalks(server, 'long', 1);
  if (!talk) throw new Error('There is no connection');
  const rateOf = async (trips: number): Promise<number> => {
    const from = performance.now();
    await repeat(talk, trips);
    return (trips / (performance.now() - from)) * 1000;
  };
  const first = await rateOf(200);
  await rateOf(LONG - 200);
  const late = await rateOf(200);
  talk.close();
  return {
    name: `live turns after ${count(LONG)}`,
    figure: `${count(late)}/s`,
    ratio: `${percent(late / first)} of the first 200 (${count(first)}/s)`,
    goal: { text: '>= 80 %', met: late / first >= 0.8 },
  };
}

interface Figures {
  /** Round trips a second, over all connections. */
  readonly rate: number;
  /** Microseconds of the server's processor time for each. */
  readonly cpu: number;
}

async function measured(
  server: ChildServer,
  sockets: readonly WebSocket[],
  { connections, trips }: { connections: number; trips: number },
): Promise<Figures> {
  const cpuFrom = server.cpuSeconds();
  const from = performance.now();
  await Promise.all(sockets.map((socket) => repeat(socket, trips)));
  const seconds = (performance.now() - from) / 1000;
  const cpu = server.cpuSeconds() - cpuFrom;
  for (const socket of sockets) socket.close();
  return { rate: (trips * connections) / seconds, cpu: (cpu * 1e6) / (trips * connections) };
}

/** Sends the question and waits for its answer, so many times. Echoes are whole answers; turns end with a frame that says so. */
function repeat(socket: WebSocket, trips: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = trips;
    const onMessage = (data: Buffer): void => {
      if (data.length !== question.length && !data.includes('"turnComplete":true')) return;
      left -= 1;
      if (left > 0) return socket.send(question);
      socket.off('message', onMessage).off('close', onClose);
      resolve();
    };
    const onClose = (code: number, reason: Buffer): void => reject(new Error(`Closed: ${code} ${reason.toString()}`));
    socket.on('message', onMessage).once('close', onClose);
    socket.send(question);
  });
}

async function openTalks(server: ChildServer, prefix: string, connections: number): Promise<WebSocket[]> {
  const ids = Array.from({ length: connections }, (_, index) => `${prefix}-${index}`);
  await drive({ port: server.port, concurrency: 1, requests: ids.map((id) => adk.createSession('echo', id)) });
  return Promise.all(ids.map((id) => open(server, adk.livePath('echo', id))));
}

const openSockets = (server: ChildServer, connections: number): Promise<WebSocket[]> =>
  Promise.all(Array.from({ length: connections }, () => open(server, '/')));

function open({ port }: ChildServer, path: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
    socket.once('open', () => resolve(socket)).once('error', reject);
  });
}
