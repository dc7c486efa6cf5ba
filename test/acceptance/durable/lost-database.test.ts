import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { numbers, twoReplicas } from './replicas.ts';

vi.setConfig({ testTimeout: 60_000 }); // servers take their time on a busy machine

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
