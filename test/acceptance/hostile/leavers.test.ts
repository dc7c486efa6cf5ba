import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, textOf } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { openRaw, requestText } from './raw-http.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

/** How many model calls have led to a `tick` of the session; asked through a run of another session. */
async function ticksOf(session: string): Promise<number> {
  const { id } = await newSession(server.client, 'probe');
  return Number(textOf((await runEvents(server.client, runBody('probe', id, `count ${session}`))).at(-1)));
}

async function untilTicks(session: string, count: number): Promise<void> {
  while ((await ticksOf(session)) < count) await sleep(20);
}

/** Waits until the session's first run is over: from then on it starts nothing. */
async function expectCancelled(path: string): Promise<void> {
  const { events } = await readSession(server.client, path);
  const { json } = await server.client.get(`${path}/runs/${events[0]!.invocationId}/wait?timeoutMs=15000`);
  expect(json).toMatchObject({ status: 'cancelled' });
}

it.each([
  ['/run', false, 'FIN'],
  ['/run', false, 'RST'],
  ['/run_sse', false, 'FIN'],
  ['/run_sse', true, 'FIN'],
  ['/run_sse', true, 'RST'],
])(
  'starts no further model call once the client of %s (streaming %s) has left with %s',
  async (route, streaming, how) => {
    const { id, path } = await newSession(server.client, 'probe');
    const connection = await openRaw(server.url);
    const body = JSON.stringify(runBody('probe', id, 'loop', { streaming }));
    connection.write(requestText('POST', route, { host: new URL(server.url).host, body }));
    await untilTicks(id, 2);

    if (how === 'RST') connection.socket.resetAndDestroy();
    else connection.destroy();

    await expectCancelled(path);
    const ticks = await ticksOf(id);
    const after = await runEvents(server.client, runBody('probe', id, 'echo still here'));
    expect(textOf(after.at(-1))).toBe('still here');
    expect(await ticksOf(id)).toBe(ticks);
    const { events } = await readSession(server.client, path);
    expect(events[0]).toMatchObject({ author: 'user', content: { parts: [{ text: 'loop' }] } });
    expect(new Set(events.map((event) => event.invocationId)).size).toBe(2);
  },
);

it('pairs each stored call with a response, also in a run that was cut', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const stream = await server.process.sse('/run_sse', runBody('probe', id, 'loop'));
  await untilTicks(id, 2);
  stream.leave();
  await expectCancelled(path);

  await runEvents(server.client, runBody('probe', id, 'echo next'));

  const parts = (await readSession(server.client, path)).events.flatMap((event) => event.content?.parts ?? []);
  const answered = new Set(parts.flatMap((part) => part.functionResponse?.id ?? []));
  const calls = parts.flatMap((part) => part.functionCall?.id ?? []);
  // The last call before the cut may be open; the model is then told so, but its history holds no other gap.
  expect(calls.filter((call) => !answered.has(call)).length).toBeLessThanOrEqual(1);
});

it.each(['onDisconnect', 'on_disconnect'])('%s continue lets the run end without its client', async (key) => {
  const { id, path } = await newSession(server.client, 'chat');
  const stream = await server.process.sse(
    '/run_sse',
    runBody('chat', id, 'crawl', { streaming: true, [key]: 'continue' }),
  );
  for await (const frame of stream) {
    expect(frame.data['partial']).toBe(true);
    break;
  }
  stream.leave();

  await expect
    .poll(async () => textOf((await readSession(server.client, path)).events.at(-1)), { timeout: 10_000 })
    .toBe('one two three four five six seven eight nine ten');
});

it('stops a slow stream in the middle and stores no whole answer', async () => {
  const { id, path } = await newSession(server.client, 'chat');
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'crawl', { streaming: true }));
  for await (const frame of stream) {
    expect(frame.data['partial']).toBe(true);
    break;
  }
  stream.leave();
  await expectCancelled(path);

  const texts = (await readSession(server.client, path)).events.map(textOf);
  expect(texts[0]).toBe('crawl');
  expect(texts).not.toContain('one two three four five six seven eight nine ten');
});

it('frees the session of a hanging model at once when its client leaves', async () => {
  const { id } = await newSession(server.client, 'chat');
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'hang'));
  stream.leave();

  expect(textOf((await runEvents(server.client, runBody('chat', id, 'hi'))).at(-1))).toBe('Hello!');
});

it('drops a run that still waits in line when its client leaves', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const going = runEvents(server.client, runBody('probe', id, 'never', { runConfig: { toolTimeoutMs: 1_500 } }));
  await expect.poll(async () => (await readSession(server.client, path)).events.length).toBeGreaterThan(0);
  const waiting = await openRaw(server.url);
  const body = JSON.stringify(runBody('probe', id, 'echo ghost'));
  waiting.write(requestText('POST', '/run', { host: new URL(server.url).host, body }));
  await expect.poll(async () => (await server.client.get(`${path}/runs`)).json).toHaveLength(2);

  waiting.destroy();
  await going;
  await runEvents(server.client, runBody('probe', id, 'echo after'));

  const said = (await readSession(server.client, path)).events.filter(({ author }) => author === 'user').map(textOf);
  expect(said).toEqual(['never', 'echo after']);
});

it('survives 100 clients that open a stream and leave', { timeout: 60_000 }, async () => {
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      const { id } = await newSession(server.client, 'chat');
      const stream = await server.process.sse('/run_sse', runBody('chat', id, 'crawl', { streaming: true }));
      stream.leave();
    }),
  );

  const { id } = await newSession(server.client, 'chat');
  expect(await runEvents(server.client, runBody('chat', id, 'hi'))).toHaveLength(1);
});
