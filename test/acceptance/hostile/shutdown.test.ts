import { afterEach, beforeEach, expect, it } from 'vitest';
import { newSession, runBody, runEvents, textOf, type WireEvent } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { openRaw, requestText } from './raw-http.ts';

let server: ProbeServer;
beforeEach(async () => {
  server = await startProbeServer({ flags: ['--shutdown-grace', '2s'] });
});
afterEach(() => server.stop());

const send = (signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(server.process.pid!, signal);
  } catch {
    return false;
  }
};
const terminate = (): boolean => send('SIGTERM');

/** The exit code, once the process has ended by itself: no second signal hurries it. */
async function ended(): Promise<number | null> {
  await expect.poll(() => send(0), { timeout: 15_000 }).toBe(false);
  return server.stop();
}

it.each(['SIGTERM', 'SIGINT'] as const)('ends a stream with an error event on %s and exits with 0', async (signal) => {
  const { id } = await newSession(server.client, 'chat');
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'hang', { streaming: true }));
  const reading = stream.all();

  send(signal);

  const frames = await reading;
  expect(frames.at(-1)).toMatchObject({
    error: expect.stringMatching(/./) as unknown,
    errorCode: expect.stringMatching(/^(run_cancelled|unavailable)$/) as unknown,
    errorMessage: expect.stringMatching(/./) as unknown,
  });
  expect(await ended()).toBe(0);
});

it('tells /ready and new runs 503 while it drains, on connections that are open already', async () => {
  const { id } = await newSession(server.client, 'chat');
  const { host } = new URL(server.url);
  const first = await openRaw(server.url);
  const second = await openRaw(server.url);
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'crawl', { streaming: true }));
  const reading = stream.all();

  terminate();
  await expect
    .poll(async () =>
      fetch(`${server.url}/ready`).then(
        (answer) => answer.status,
        () => 503,
      ),
    )
    .toBe(503);
  first.write(requestText('GET', '/ready', { host }));
  second.write(requestText('POST', '/run', { host, body: JSON.stringify(runBody('chat', id, 'hi')) }));
  const answers = await Promise.all([first.closed(), second.closed()]);

  // Once the last run is over the server may close idle connections instead of answering on them.
  for (const text of answers) expect(text).toMatch(/^(HTTP\/1\.1 503 |$)/);
  expect((await reading).length).toBeGreaterThan(0);
  expect(await ended()).toBe(0);
});

it('ends a plain run with a JSON problem, not with a cut connection', async () => {
  const { id } = await newSession(server.client, 'chat');
  const running = server.client.post('/run', runBody('chat', id, 'hang'));
  await expect
    .poll(async () => (await server.client.get(`/apps/chat/users/user/sessions/${id}`)).text)
    .toContain('hang');

  terminate();

  const answer = await running;
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.json).toMatchObject({ code: expect.stringMatching(/^(run_cancelled|unavailable)$/) as unknown });
  expect(await ended()).toBe(0);
});

it('exits with 0 while tools hang that do not listen, and clients that do not read', async () => {
  const { id } = await newSession(server.client, 'probe');
  const hanging = await server.process.sse('/run_sse', runBody('probe', id, 'never'));
  const reading = hanging.all().catch(() => []);
  const flood = await newSession(server.client, 'flood');
  const deaf = await openRaw(server.url);
  deaf.socket.pause();
  const body = JSON.stringify(runBody('flood', flood.id, 'flood', { streaming: true }));
  deaf.write(requestText('POST', '/run_sse', { host: new URL(server.url).host, body }));
  const idle = await openRaw(server.url);

  terminate();

  expect(await ended()).toBe(0);
  await reading;
  for (const connection of [deaf, idle]) connection.destroy();
});

it('ends at once at a second signal', async () => {
  const { id } = await newSession(server.client, 'chat');
  const stream = await server.process.sse('/run_sse', runBody('chat', id, 'hang', { streaming: true }));
  const reading = stream.all().catch(() => []);

  terminate();
  await expect.poll(() => server.process.stderr).toContain('shutting down');
  terminate();

  expect([0, 1]).toContain(await ended());
  await reading;
});

it('closes at once when nothing runs', async () => {
  const { id } = await newSession(server.client, 'chat');
  expect(textOf((await runEvents(server.client, runBody('chat', id, 'hi'))).at(-1) as WireEvent)).toBe('Hello!');

  terminate();

  expect(await ended()).toBe(0);
  await expect(fetch(`${server.url}/health`)).rejects.toThrow(/./);
});
