import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  framesOf,
  newSession,
  readSession,
  runBody,
  runEvents,
  sessionsPath,
  textOf,
  type WireEvent,
} from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const numbers = (count: number): number[] => Array.from({ length: count }, (_unused, index) => index);

it('keeps 100 sessions at once apart, in answers, streams, histories and state', { timeout: 60_000 }, async () => {
  const sessions = await Promise.all(
    numbers(100).map((n) => newSession(server.client, 'probe', { user: `user-${n % 10}`, state: { n } })),
  );

  const answers = await Promise.all(
    sessions.map(async ({ id }, n) => {
      const body = runBody('probe', id, `echo secret-${n}`, { userId: `user-${n % 10}`, streaming: n % 3 === 0 });
      const answer = await server.client.post(n % 2 ? '/run' : '/run_sse', body);
      expect(answer).toHaveStatus(200);
      return n % 2 ? (answer.json as WireEvent[]) : (framesOf(answer.text) as WireEvent[]);
    }),
  );

  for (const [n, events] of answers.entries()) {
    expect(textOf(events.at(-1))).toBe(`secret-${n}`);
    const session = await readSession(server.client, sessions[n]!.path);
    expect(session.state).toEqual({ n });
    expect(session.events).toHaveLength(4);
    const secrets = new Set(JSON.stringify([session.events, events]).match(/secret-\d+/g));
    expect([...secrets]).toEqual([`secret-${n}`]);
  }
});

it('counts every increment of 20 sessions of one user that share user: state, one session at a time', async () => {
  const sessions = await Promise.all(numbers(20).map(() => newSession(server.client, 'probe', { user: 'sharer' })));
  for (const { id } of sessions)
    await runEvents(server.client, runBody('probe', id, 'increment user:n', { userId: 'sharer' }));

  for (const { path } of sessions) expect((await readSession(server.client, path)).state).toEqual({ 'user:n': 20 });
});

it('lists, reads and deletes sessions while others are created', async () => {
  const base = sessionsPath('chat', 'churn');
  await Promise.all(
    numbers(60).map(async (n) => {
      const created = await server.client.post(`${base}/s${n}`, { state: { n } });
      const listed = await server.client.get(base);
      const read = await server.client.get(`${base}/s${n}`);
      expect([created.status, listed.status, read.status]).toEqual([200, 200, 200]);
      expect(read.json).toMatchObject({ state: { n } });
      if (n % 2) await server.client.delete(`${base}/s${n}`);
    }),
  );

  const ids = ((await server.client.get(base)).json as { id: string }[]).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(
    numbers(60)
      .filter((n) => n % 2 === 0)
      .map((n) => `s${n}`)
      .toSorted(),
  );
});

it('gives 50 artifact versions saved at once 50 numbers', async () => {
  const { path } = await newSession(server.client, 'chat');

  const saved = await Promise.all(
    numbers(50).map((n) => server.client.post(`${path}/artifacts`, { filename: 'a.txt', artifact: { text: `v${n}` } })),
  );

  const versions = saved.map(({ json }) => (json as { version: number }).version);
  expect(versions.toSorted((a, b) => a - b)).toEqual(numbers(50));
  for (const [n, version] of versions.entries()) {
    expect((await server.client.get(`${path}/artifacts/a.txt/versions/${version}`)).json).toEqual({ text: `v${n}` });
  }
});
