import { once } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { OperatorLimits } from '../../../src/http/limits/caller-limits.ts';
import { type Event } from '../../../src/schemas/event.ts';
import { listen, runBody, says, server, sessionPath } from '../server.ts';

/** A server whose runs wait for `finish`. */
async function waitingServer(callerLimits: OperatorLimits) {
  const gate = Promise.withResolvers<void>();
  async function* script(): AsyncGenerator<Event> {
    yield says('Hold on');
    await gate.promise;
  }
  const { app, services } = await server({
    script,
    startLive: async (_request, _input, signal) => ({
      invocationId: 'e-1',
      // oxlint-disable-next-line require-yield
      async *[Symbol.asyncIterator]() {
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      },
    }),
    config: { callerLimits },
  });
  for (const sessionId of ['s', 't']) {
    await services.sessions.createSession({ appName: 'demo', userId: 'u' }, { sessionId });
  }
  return { app, finish: gate.resolve };
}

const run = (app: FastifyInstance, sessionId: string, url = '/run') =>
  app.inject({ method: 'POST', url, payload: runBody('Hi', { sessionId }) });

const start = (app: FastifyInstance, sessionId: string) =>
  app.inject({
    method: 'POST',
    url: `${sessionPath(sessionId)}/runs`,
    payload: { newMessage: { role: 'user', parts: [{ text: 'Hi' }] } },
  });

it.each(['/run', '/run_sse'])('refuses %s while the caller has as many runs as allowed', async (url) => {
  const { app, finish } = await waitingServer({ concurrentRuns: 1 });
  const background = await start(app, 's');
  const refused = await run(app, 't', url);
  const alsoRefused = await start(app, 't');

  expect(background.statusCode).toBe(202);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  expect(refused.json()).toMatchObject({
    code: 'too_many_runs',
    detail: 'You have 1 active run, and may not have more',
  });
  expect(alsoRefused.statusCode).toBe(429);

  finish();
  const { id } = background.json<{ id: string }>();
  await app.inject({ url: `${sessionPath('s')}/runs/${id}/wait` });
  expect((await run(app, 't', url)).statusCode).toBe(200);
  expect((await run(app, 't', url)).statusCode).toBe(200);
});

it('counts a run with a connection until it ends, and gives back what a failed one had', async () => {
  const { app, finish } = await waitingServer({ concurrentRuns: 1 });

  const missing = await run(app, 'missing');
  const held = run(app, 's').then((response) => response.statusCode); // injected at once
  const refused = await run(app, 't');
  finish();

  expect(missing.statusCode).toBe(404);
  expect(refused.statusCode).toBe(429);
  expect(await held).toBe(200);
  expect((await run(app, 't')).statusCode).toBe(200);
});

it('limits the runs of an app', async () => {
  const { app, finish } = await waitingServer({ apps: { demo: { concurrentRuns: 0 } } });

  expect((await run(app, 's')).json()).toMatchObject({ detail: 'The app has 0 active runs, and may not have more' });
  finish();
});

it('refuses a stream above the limit, and takes the next when one is closed', async () => {
  const { app, finish } = await waitingServer({ openStreams: 1 });
  const url = await listen(app);
  const stream = (sessionId: string, signal?: AbortSignal) =>
    fetch(`${url}/run_sse`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(runBody('Hi', { sessionId })),
      ...(signal && { signal }),
    });

  const first = await stream('s');
  const refused = await stream('t');
  const problem = (await refused.json()) as object;
  finish();
  await first.text();
  const next = await stream('t');

  expect(first.status).toBe(200);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(problem).toMatchObject({ code: 'too_many_streams' });
  expect([next.status, await next.text()]).toEqual([200, expect.stringContaining('Hold on')]);
});

const connect = (url: string, sessionId: string): WebSocket => {
  const query = `app_name=demo&user_id=u&session_id=${sessionId}`;
  const socket = new WebSocket(`${url.replace('http', 'ws')}/run_live?${query}`);
  onTestFinished(() => socket.terminate());
  return socket;
};

it('refuses a WebSocket above the limit before the upgrade, with 429', async () => {
  const { app } = await waitingServer({ openStreams: 1 });
  const url = await listen(app);
  const first = connect(url, 's');
  await once(first, 'open');
  const refused = connect(url, 't');
  refused.on('error', () => {});
  const [, response] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }];
  first.close();
  await once(first, 'close');

  expect(response.statusCode).toBe(429);
  const next = connect(url, 't');
  await once(next, 'open');
});

it('closes a WebSocket whose run is one too many, with a reason', async () => {
  const { app } = await waitingServer({ concurrentRuns: 1 });
  const url = await listen(app);
  const first = connect(url, 's');
  await once(first, 'open');
  const refused = connect(url, 't');
  const [code, reason] = (await once(refused, 'close')) as [number, Buffer];

  expect([code, reason.toString()]).toEqual([1013, 'You have 1 active run, and may not have more']);
});
