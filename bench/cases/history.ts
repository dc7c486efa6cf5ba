import * as adk from '../adk.ts';
import type { Bench } from '../bench.ts';
import type { ChildServer } from '../child-server.ts';
import { Connection, type Reply } from '../connection.ts';
import { assertOk, median } from '../load.ts';
import { count, megabytes, ms, times, type Row } from '../report.ts';

const TURN_SAMPLES = 25;

/** A run late in a session beside first runs of fresh sessions, taken by turns. */
export function measureTurns(bench: Bench): Promise<Row[]> {
  return measureTurnsIn(bench, { name: 'run', flags: [], most: 2 });
}

/** The same in a server with more flags; turn 1,000 may cost `most` times turn 1. */
export async function measureTurnsIn(
  bench: Bench,
  { name, flags, most }: { name: string; flags: readonly string[]; most: number },
): Promise<Row[]> {
  const server = await bench.start(['quick'], flags);
  const client = new Connection(server.port);
  await create(client, 'warm-up');
  for (let turn = 0; turn < 500; turn += 1) await timed(client, adk.run('quick', 'warm-up'));

  await create(client, 'long');
  const rows: Row[] = [];
  let turn = 0;
  for (const target of [100, 1000]) {
    for (; turn < target - TURN_SAMPLES; turn += 1) await timed(client, adk.run('quick', 'long'));
    const first: number[] = [];
    const late: number[] = [];
    for (let sample = 0; sample < TURN_SAMPLES; sample += 1) {
      const fresh = `turns-${target}-${sample}`;
      await create(client, fresh);
      first.push(await timed(client, adk.run('quick', fresh)));
      late.push(await timed(client, adk.run('quick', 'long')));
      turn += 1;
    }
    const ratio = median(late) / median(first);
    rows.push({
      name: `${name} at turn ${count(target)}, c 1`,
      figure: ms(median(late)),
      ratio: `${times(ratio)} turn 1 (${ms(median(first))})`,
      ...(target === 1000 && { goal: { text: `<= ${most} x turn 1`, met: ratio <= most } }),
    });
  }
  client.close();
  await bench.stopAll();
  return rows;
}

/** Reading a session of many events, and what that does to everybody else. */
export async function measureReads(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['quick']);
  const client = new Connection(server.port);
  await fill(client, 'events-10', 10);
  const rows: Row[] = [];
  for (const events of [10, 1000, 5000]) {
    const session = `events-${events}`;
    if (events > 10) await fill(client, session, events);
    const path = adk.get(adk.sessionPath('quick', session));
    const size = (await send(client, path)).bytes;
    const taken: number[] = [];
    for (let sample = 0; sample < 60 * bench.scale; sample += 1) taken.push(await timed(client, path));
    rows.push({
      name: `GET session of ${count(events)} events`,
      figure: `p50 ${ms(median(taken))} (${megabytes(size)})`,
      ...(events === 5000 && { goal: { text: 'p50 <= 8 ms', met: median(taken) <= 8 } }),
    });
  }
  rows.push(await measureOthers(server, bench.scale));
  client.close();
  await bench.stopAll();
  return rows;
}

/** Small requests while another client reads the largest session again and again. */
async function measureOthers(server: ChildServer, scale: number): Promise<Row> {
  const small = adk.get(adk.sessionPath('quick', 'events-10'));
  const other = new Connection(server.port);
  const idle: number[] = [];
  for (let sample = 0; sample < 200; sample += 1) idle.push(await timed(other, small));

  const reader = new Connection(server.port);
  const busy: number[] = [];
  const done = new AbortController();
  const reads = (async () => {
    while (!done.signal.aborted) await send(reader, adk.get(adk.sessionPath('quick', 'events-5000')));
  })();
  for (let sample = 0; sample < 300 * scale; sample += 1) busy.push(await timed(other, small));
  done.abort();
  await reads;
  reader.close();
  other.close();
  return {
    name: 'others while 5,000 events are read',
    figure: `p50 ${ms(median(busy))} (idle ${ms(median(idle))})`,
    goal: { text: 'p50 <= 10 ms', met: median(busy) <= 10 },
  };
}

/** Fills a session by running it: a turn stores two events, of some 500 bytes each. */
export async function fill(client: Connection, session: string, events: number): Promise<void> {
  await create(client, session);
  const question = 'What does a long question look like? '.repeat(12);
  for (let stored = 0; stored < events; stored += 2) await send(client, adk.run('quick', session, question));
}

const create = (client: Connection, session: string): Promise<Reply> =>
  send(client, adk.createSession('quick', session));

export async function timed(client: Connection, request: Buffer): Promise<number> {
  const from = performance.now();
  await send(client, request);
  return performance.now() - from;
}

async function send(client: Connection, request: Buffer): Promise<Reply> {
  const reply = await client.send(request);
  assertOk(reply);
  return reply;
}
