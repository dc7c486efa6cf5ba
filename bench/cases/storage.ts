import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { SessionService } from '../../src/core/services.ts';
import type { Event } from '../../src/schemas/event.ts';
import { openServices } from '../../src/services/open-services.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import * as adk from '../adk.ts';
import type { Bench } from '../bench.ts';
import { Connection } from '../connection.ts';
import { drive, median } from '../load.ts';
import { count, ms, percent, type Row } from '../report.ts';
import { fill, measureTurnsIn, timed } from './history.ts';

/** One append costs at most as much as two bare inserts. */
const leastShare = 0.5;

/** Appends of one event beside bare inserts of the same text, by turns. */
export async function measureSqlite({ folder, rounds, scale }: Bench): Promise<Row[]> {
  const path = join(folder, 'bench.db');
  const bare = new DatabaseSync(`${path}.bare`);
  bare.exec('pragma journal_mode = wal; pragma synchronous = full; create table bare (id text primary key, body text)');
  const insert = bare.prepare('insert into bare values (?, ?)');
  const { sessions, databases } = openServices({ ...memoryOnly, sessionService: `sqlite:${path}` });
  const rows: Row[] = [];
  for (const concurrency of [1, 50]) {
    const amount = Math.round((concurrency === 1 ? 1000 : 6000) * scale);
    const sides = {
      ours: () => appends(sessions, concurrency, amount),
      bare: async () => {
        for (const event of eventsOf(amount / 2)) insert.run(event.id, JSON.stringify(event));
        return amount / 2;
      },
    };
    rows.push(await compare(`SQLite append, ${concurrency} sessions`, rounds, sides));
  }
  await databases.close();
  bare.close();
  return rows;
}

export async function measurePostgres({ rounds, scale }: Bench): Promise<Row[]> {
  const server = await startPostgres();
  const uri = await server.newDatabase();
  const { sessions, databases } = openServices({ ...memoryOnly, sessionService: uri });
  const pool = new pg.Pool({ connectionString: uri, max: 10 });
  await pool.query('create table bare (id text primary key, body text)');
  const rows: Row[] = [];
  for (const concurrency of [1, 8]) {
    const amount = Math.round((concurrency === 1 ? 1500 : 6000) * scale);
    const sides = {
      ours: () => appends(sessions, concurrency, amount),
      bare: async () => {
        const events = eventsOf(amount);
        await inParallel(concurrency, async () => {
          for (let event = events.pop(); event; event = events.pop()) {
            const values = [event.id, JSON.stringify(event)];
            await pool.query({ name: 'bare', text: 'insert into bare values ($1, $2)', values });
          }
        });
        return amount;
      },
    };
    rows.push(await compare(`PostgreSQL append, ${concurrency} sessions`, rounds, sides));
  }
  await pool.end();
  await databases.close();
  await server.close();
  return rows;
}

/** Turns over HTTP, each of them stored, down to the disk, before it is answered. */
export async function measureDurableTurns(bench: Bench): Promise<Row[]> {
  const flags = ['--session-service', `sqlite:${join(bench.folder, 'turns.db')}`];
  const server = await bench.start(['quick'], flags);
  const client = new Connection(server.port);
  const sessions = Array.from({ length: 50 }, (_, index) => `durable-${index}`);
  for (const session of sessions) await client.send(adk.createSession('quick', session));
  const rates: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const amount = Math.round(3000 * bench.scale);
    const requests = Array.from({ length: amount }, (_, index) => adk.run('quick', sessions[index % sessions.length]!));
    const { seconds } = await drive({ port: server.port, concurrency: sessions.length, requests });
    rates.push(amount / seconds);
  }
  await fill(client, 'long', 5000);
  const page = adk.get(`${adk.sessionPath('quick', 'long')}/events?pageSize=100&order=desc`);
  const taken: number[] = [];
  for (let sample = 0; sample < 60; sample += 1) taken.push(await timed(client, page));
  client.close();
  await bench.stopAll();
  const perSecond = median(rates);
  const fresh = ['--session-service', `sqlite:${join(bench.folder, 'long.db')}`];
  return [
    {
      name: 'durable turns, 50 sessions',
      figure: `${count(perSecond)} turns/s`,
      goal: { text: '>= 500 turns/s', met: perSecond >= 500 },
    },
    {
      name: 'last page of 5,000 durable events',
      figure: `p50 ${ms(median(taken))}`,
      goal: { text: 'p50 <= 10 ms', met: median(taken) <= 10 },
    },
    ...(await measureTurnsIn(bench, { name: 'durable run', flags: fresh, most: 1.5 })),
  ];
}

const memoryOnly = { sessionService: 'memory:', artifactService: 'memory:', memoryService: 'memory:' };

interface Sides {
  /** Each does its work and says how much of it there was. */
  readonly ours: () => Promise<number>;
  readonly bare: () => Promise<number>;
}

/** Rates of both sides, measured by turns; the median of their ratios counts. */
async function compare(name: string, rounds: number, { ours, bare }: Sides): Promise<Row> {
  await bare();
  await ours();
  const samples: { ours: number; bare: number }[] = [];
  for (let round = 0; round < rounds * 2 + 1; round += 1) {
    samples.push({ bare: await rate(bare), ours: await rate(ours) });
  }
  const share = median(samples.map((sample) => sample.ours / sample.bare));
  return {
    name,
    figure: `${count(median(samples.map((sample) => sample.ours)))} /s`,
    bare: `${count(median(samples.map((sample) => sample.bare)))} /s`,
    ratio: percent(share),
    goal: { text: `>= ${percent(leastShare)} of bare`, met: share >= leastShare },
  };
}

async function rate(work: () => Promise<number>): Promise<number> {
  const from = performance.now();
  const amount = await work();
  return amount / ((performance.now() - from) / 1000);
}

async function appends(sessions: SessionService, concurrency: number, amount: number): Promise<number> {
  const events = eventsOf(amount);
  await inParallel(concurrency, async () => {
    const session = await sessions.createSession({ appName: 'bench', userId: 'ada' });
    for (let event = events.pop(); event; event = events.pop()) await sessions.appendEvent(session, event);
  });
  return amount;
}

async function inParallel(workers: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: workers }, work));
}

function eventsOf(amount: number): Event[] {
  const content = { role: 'model', parts: [{ text: 'x'.repeat(200) }] };
  return Array.from({ length: Math.round(amount) }, () => newEvent({ invocationId: 'e-bench' }, 'bench', { content }));
}
