import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { numbers, twoReplicas } from './replicas.ts';

let bed: Awaited<ReturnType<typeof twoReplicas>>;
beforeAll(async () => {
  bed = await twoReplicas();
});
afterAll(() => bed.close());

it('outlives three seconds without its database, and loses nothing it acknowledged', async () => {
  const { a, b, postgres } = bed;
  const sessions = await Promise.all(Array.from({ length: 4 }, () => a.newSession('steps')));
  const runs = await Promise.all(sessions.map(async (session) => (await a.start(session, '30 x 100')).run));
  await pause(400);
  await postgres.stop('fast');
  const json = { newMessage: { parts: [{ text: 'x' }] } };
  const refused = await a.process.fetchJson(`${sessions[0]!}/runs`, { json });
  await pause(3_000);
  await postgres.start();

  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  for (const [index, session] of sessions.entries()) {
    const { id } = runs[index]!;
    await expect.poll(async () => (await b.wait(session, id)).status, { timeout: 15_000 }).toBe('done');
    expect((await b.history(session)).map(({ text }) => text)).toEqual(['30 x 100', ...numbers(30)]);
  }
  expect((await a.process.fetchJson('/health')).status).toBe(200);
});

it('answers 503 when the database keeps silent, and serves again when it does not any more', async () => {
  const { a, b, postgres } = bed;
  const session = await a.newSession('steps');
  const { run } = await a.start(session, '20 x 50');
  const json = { newMessage: { parts: [{ text: '1 x 1' }] } };
  const soon = { signal: AbortSignal.timeout(20_000) }; // a statement alone waits for longer
  postgres.freeze();
  const answers = await Promise.all(
    [a, b].flatMap(({ process }) => [
      ...Array.from({ length: 20 }, () => process.fetchJson(session, soon)),
      process.fetchJson(`/apps/steps/users/u/sessions`, { json: {}, ...soon }),
      process.fetchJson(`/run`, { json: { appName: 'steps', userId: 'u', sessionId: 'x', ...json }, ...soon }),
    ]),
  ).finally(() => postgres.thaw());

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers.every(({ headers }) => headers.has('retry-after'))).toBe(true);
  await expect.poll(async () => (await b.wait(session, run.id)).status, { timeout: 30_000 }).toBe('done');
  expect((await b.history(session)).map(({ text }) => text)).toEqual(['20 x 50', ...numbers(20)]);
});

it('waits for a database that is only slow', async () => {
  const { a, uri } = bed;
  const session = await a.newSession('steps');
  const client = new pg.Client(uri);
  await client.connect();
  await client.query('begin');
  await client.query('lock table sessions in access exclusive mode');
  const answers = Promise.all([a.process.fetchJson(session), a.start(session, '1 x 1')]);
  await pause(3_500);
  await client.query('rollback');
  await client.end();

  expect((await answers).map(({ status }) => status)).toEqual([200, 202]);
});
