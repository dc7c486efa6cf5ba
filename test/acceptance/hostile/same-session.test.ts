import { setTimeout as sleep } from 'node:timers/promises';
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

/** Resolves once the session holds `count` user messages, so that a run is known to have begun. */
async function until(path: string, count: number): Promise<void> {
  for (;;) {
    const { events } = await readSession(server.client, path);
    if (events.filter(({ author }) => author === 'user').length >= count) return;
    await sleep(10);
  }
}

/** The invocation ids in the order of the history, each once per unbroken stretch. */
const stretchesOf = (events: readonly WireEvent[]): string[] =>
  events.map(({ invocationId }) => invocationId).filter((id, index, all) => id !== all[index - 1]);

it('answers 8 runs at once on one session one after another, with no lost update', async () => {
  const { id, path } = await newSession(server.client, 'probe');

  const answers = await Promise.all(
    Array.from({ length: 8 }, (_unused, index) =>
      server.client.post(index % 2 ? '/run' : '/run_sse', runBody('probe', id, 'increment n')),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const session = await readSession(server.client, path);
  expect(session.state).toEqual({ n: 8 });
  expect(session.events).toHaveLength(8 * 4);
  expect(stretchesOf(session.events)).toHaveLength(8);
  const said = answers.map(({ text, json }) =>
    textOf((json === undefined ? (framesOf(text) as WireEvent[]) : (json as WireEvent[])).at(-1)),
  );
  expect(said.toSorted()).toEqual(Array.from({ length: 8 }, (_unused, index) => `n is ${index + 1}`));
});

it('keeps the order in which runs arrived', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const runs: Promise<WireEvent[]>[] = [];
  for (let index = 0; index < 6; index += 1) {
    runs.push(runEvents(server.client, runBody('probe', id, `echo ${index}`)));
    if (index === 0) await until(path, 1);
    await sleep(20);
  }
  await Promise.all(runs);

  const { events } = await readSession(server.client, path);

  expect(events.filter(({ author }) => author === 'user').map(textOf)).toEqual(
    [0, 1, 2, 3, 4, 5].map((n) => `echo ${n}`),
  );
});

it('refuses more than 16 waiting runs with 429 and loses none of the others', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const first = runEvents(server.client, runBody('probe', id, 'never', { runConfig: { toolTimeoutMs: 3_000 } }));
  await until(path, 1);

  const answers = await Promise.all(
    Array.from({ length: 24 }, () => server.client.post('/run', runBody('probe', id, 'increment n'))),
  );
  await first;

  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(16);
  expect(refused).toHaveLength(8);
  for (const answer of refused) {
    expect(answer).toBeProblem(429, 'queue_full');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect((await readSession(server.client, path)).state).toEqual({ n: 16 });
});

it.each(['onBusy', 'on_busy'])('%s reject answers 409 while a run is going, and runs when none is', async (key) => {
  const { id, path } = await newSession(server.client, 'probe');
  const going = runEvents(server.client, runBody('probe', id, 'never', { runConfig: { toolTimeoutMs: 1_500 } }));
  await until(path, 1);

  for (const route of ['/run', '/run_sse']) {
    expect(await server.client.post(route, runBody('probe', id, 'echo no', { [key]: 'reject' }))).toBeProblem(
      409,
      'session_busy',
    );
  }
  await going;
  const after = await runEvents(server.client, runBody('probe', id, 'echo yes', { [key]: 'reject' }));

  expect(textOf(after.at(-1))).toBe('yes');
  expect(JSON.stringify(await readSession(server.client, path))).not.toContain('echo no');
});

it('onBusy interrupt cancels the run that is going, keeps what it stored, and answers', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const going = server.client.post('/run', runBody('probe', id, 'loop'));
  // The message, a call and its response.
  await expect.poll(async () => (await readSession(server.client, path)).events.length).toBeGreaterThan(2);

  const events = await runEvents(server.client, runBody('probe', id, 'echo now', { onBusy: 'interrupt' }));

  const cut = await going;
  expect(cut).toBeProblem(cut.status, 'run_interrupted');
  expect(textOf(events.at(-1))).toBe('now');
  const session = await readSession(server.client, path);
  expect(stretchesOf(session.events)).toHaveLength(2);
  expect(session.events.filter(({ author }) => author === 'user').map(textOf)).toEqual(['loop', 'echo now']);
  expect(session.events.some((event) => event.content?.parts.some((part) => part.functionCall?.name === 'tick'))).toBe(
    true,
  );
});

it('tells a stream that was interrupted so in its last frame', async () => {
  const { id, path } = await newSession(server.client, 'chat');
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'hang', { streaming: true }));
  const reading = stream.all();
  await until(path, 1);

  await runEvents(server.client, runBody('chat', id, 'hi', { onBusy: 'interrupt' }));

  expect((await reading).at(-1)).toMatchObject({ errorCode: 'run_interrupted', error: expect.any(String) as unknown });
});

it('lets runs of other sessions pass a session that hangs', async () => {
  const { id, path } = await newSession(server.client, 'chat');
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'hang'));
  await until(path, 1);

  const other = await newSession(server.client, 'chat');
  expect(await runEvents(server.client, runBody('chat', other.id, 'hi'))).toHaveLength(1);
  expect((await server.client.get(path)).status).toBe(200);

  stream.leave();
});

it('gives one of 20 creations of the same id the session and the others 409', async () => {
  for (const [path, body] of [
    [`${sessionsPath('chat', 'racer')}/same`, {}],
    [sessionsPath('chat', 'racer2'), { sessionId: 'same' }],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.client.post(path, body)));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toBeProblem(409, 'session_exists');
  }
});

it('keeps the process and the other sessions well when a session is deleted during its run', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const going = server.client.post('/run', runBody('probe', id, 'loop', { runConfig: { maxLlmCalls: 8 } }));
  await until(path, 1);

  expect((await server.client.delete(path)).status).toBe(200);

  expect(await going).toBeAnyOf([200, 404, 409, 499]);
  expect(await server.client.get(path)).toBeProblem(404);
  const other = await newSession(server.client, 'probe');
  expect(textOf((await runEvents(server.client, runBody('probe', other.id, 'echo fine'))).at(-1))).toBe('fine');
});

it('patches a session while a run is going without losing either change', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const going = runEvents(server.client, runBody('probe', id, 'increment n'));

  const patches = await Promise.all(
    Array.from({ length: 5 }, (_unused, index) => server.client.patch(path, { stateDelta: { [`p${index}`]: index } })),
  );
  await going;

  for (const answer of patches) expect(answer).toHaveStatus(200);
  const { state } = await readSession(server.client, path);
  expect(state).toEqual({ n: 1, p0: 0, p1: 1, p2: 2, p3: 3, p4: 4 });
});
