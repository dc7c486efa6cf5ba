import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaseMs, ranks, type RunStore } from '../../../src/core/run-store.ts';
import type { SessionService } from '../../../src/core/services.ts';
import { openServices } from '../../../src/services/open-services.ts';
import { newDatabase } from '../../support/shared.ts';

let uri: string;
let client: pg.Client;
let store: RunStore;
let sessions: SessionService;
let close: () => Promise<void>;
beforeAll(async () => {
  uri = await newDatabase();
  const opened = openServices({ sessionService: uri, artifactService: 'memory:', memoryService: 'memory:' });
  ({ sessions } = opened);
  store = opened.runs!;
  await store.heartbeat();
  client = new pg.Client(uri);
  await client.connect();
  close = async () => {
    await store.close();
    await opened.databases.close();
  };
  // A database that has just come up says nothing of who is dead.
  const isOld = `select now() - pg_postmaster_start_time() > interval '${leaseMs + 100} ms' as old`;
  while ((await client.query<{ old: boolean }>(isOld)).rows[0]?.old !== true) await pause(200);
});
afterAll(async () => {
  await client.end();
  await close();
});

/** A run of a server that gave its last sign of life so long ago, over that connection. Gives whether it is taken over. */
async function isTaken(quietMs: number, backend: number | null): Promise<boolean> {
  const owner = { appName: 'app', userId: 'u' };
  const { id: sessionId } = await sessions.createSession(owner);
  const key = { ...owner, sessionId, runId: `e-${randomUUID()}` };
  const run = { key, kind: 'run', isDetached: true, input: '{}', isNew: true } as const;
  const { ref, fencingToken } = await store.enqueue(run, { maxOpen: 16, rank: ranks.plain });
  const home = randomUUID();
  await client.query('update agent_runs set home = $2 where id = $1', [ref.id, home]);
  await client.query(
    `insert into agent_replicas (id, alive_until, backend) values ($1, now() + $2 * interval '1 millisecond', $3)`,
    [home, leaseMs - quietMs, backend],
  );
  const taken = await store.takeOver(() => [], true);
  for (const one of taken) await store.finish(one.ref, one.fencingToken, { status: 'done' });
  await client.query('update agent_runs set home = $2 where id = $1', [ref.id, store.replicaId]);
  await store.finish(ref, fencingToken, { status: 'done' });
  return taken.some((one) => one.ref.id === ref.id);
}

async function pidOf(one: pg.Client): Promise<number> {
  return (await one.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
}

it('takes over the runs of a server as soon as it is silent and its connection is gone', async () => {
  const there = await pidOf(client);
  const lost = new pg.Client(uri);
  await lost.connect();
  const gone = await pidOf(lost);
  await lost.end();
  const isGone = `select not exists (select from pg_stat_activity where pid = ${gone}) as gone`;
  await expect.poll(async () => (await client.query(isGone)).rows[0]?.gone).toBe(true);

  expect(await isTaken(3_000, gone)).toBe(true);
  expect(await isTaken(500, gone)).toBe(false); // it may be about to make another
  expect(await isTaken(3_000, there)).toBe(false);
  expect(await isTaken(3_000, null)).toBe(false); // a server of an older version
  expect(await isTaken(leaseMs + 100, there)).toBe(true);
});
