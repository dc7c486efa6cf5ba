import { expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { eventJson } from '../../../src/schemas/event.ts';
import type { RunRequest } from '../../../src/schemas/run.ts';
import { runBody, says, server } from '../server.ts';

it('answers /run with the events of the run', async () => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: '/run', payload: runBody() });

  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json()).toMatchObject([{ author: 'demo_agent', content: { parts: [{ text: 'Hello!' }] } }]);
});

it.each(['/run_sse', '/run-sse'])('streams one data line for each event on %s', async (url) => {
  const events = [says('Hel', { partial: true }), says('line\nbreak “quote”'), says('')];
  const { app } = await server({
    async *script() {
      yield* events;
    },
  });

  const answer = await app.inject({ method: 'POST', url, payload: runBody('Hi', { streaming: true }) });

  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-store, no-transform',
    'x-content-type-options': 'nosniff',
  });
  expect(answer.body).toBe(events.map((event) => `data: ${eventJson(event)}\n\n`).join(''));
});

it('numbers the frames of a resumable stream', async () => {
  const events = [says('a'), says('b')];
  const { app } = await server({
    async *script() {
      yield* events;
    },
  });

  const answer = await app.inject({ method: 'POST', url: '/run_sse', payload: runBody('Hi', { resumable: true }) });

  expect(answer.body).toBe(
    events
      .map((event, index) => `id: ${String(answer.headers['x-run-id'])}:${index + 1}\ndata: ${eventJson(event)}\n\n`)
      .join(''),
  );
});

it('reads both spellings of a run request and hands nulls on as absent', async () => {
  const seen: RunRequest[] = [];
  const { app } = await server({
    async *script(request) {
      seen.push(request);
      yield says('ok');
    },
  });

  await app.inject({
    method: 'POST',
    url: '/run',
    payload: {
      app_name: 'demo',
      user_id: 'u',
      session_id: 's',
      new_message: { role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: 'aGk=' } }] },
      invocation_id: null,
      state_delta: { not_renamed: 1 },
      functionCallEventId: 'e1',
      unknown: true,
    },
  });

  expect(seen).toMatchObject([
    {
      appName: 'demo',
      userId: 'u',
      sessionId: 's',
      newMessage: { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
      streaming: false,
      stateDelta: { not_renamed: 1 },
      functionCallEventId: 'e1',
    },
  ]);
});

it.each(['/run', '/run_sse'])('answers a fault of the caller on %s before any event', async (url) => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url, payload: runBody('Hi', { sessionId: 'missing' }) });

  expect(answer.statusCode).toBe(404);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.json()).toEqual({
    type: 'urn:problem:session_not_found',
    title: 'Not Found',
    status: 404,
    detail: 'Session not found: missing',
    instance: url,
    error: 'Session not found: missing',
    code: 'session_not_found',
    requestId: answer.headers['x-request-id'],
  });
});

it('ends a stream that fails with an error frame', async () => {
  const { app } = await server({
    async *script() {
      yield says('Well');
      throw new AppError('model_failed', 'The model says "no"');
    },
  });

  const answer = await app.inject({ method: 'POST', url: '/run_sse', payload: runBody() });

  expect(answer.statusCode).toBe(200);
  const frames = answer.body.split('\n\n');
  expect(frames).toHaveLength(3);
  expect(frames[1]).toBe(
    'data: {"error":"The model says \\"no\\"","errorCode":"model_failed","errorMessage":"The model says \\"no\\""}',
  );
});

it('tells other machines of what it did not foresee by an id that the log explains', async () => {
  const secret = new Error('postgres://me:secret@db failed');
  const { app, logged } = await server({
    // oxlint-disable-next-line require-yield
    async *script() {
      throw secret;
    },
    config: { host: '0.0.0.0' },
  });

  const run = await app.inject({ method: 'POST', url: '/run', payload: runBody() });
  const stream = await app.inject({ method: 'POST', url: '/run_sse', payload: runBody() });

  expect(run.statusCode).toBe(500);
  const { errorId } = run.json<{ errorId: string }>();
  const detail = `Internal error (id ${errorId})`;
  expect(run.json()).toMatchObject({ code: 'internal', detail, error: detail });
  expect(stream.body).toBe(
    `data: ${JSON.stringify({ error: detail, errorCode: 'internal', errorMessage: detail, errorId })}\n\n`,
  );
  expect(logged).toEqual([
    { level: 'error', fields: { err: secret, errorId }, message: 'internal error' },
    {
      level: 'error',
      fields: { errorId, requestId: run.headers['x-request-id'], route: '/run' },
      message: 'request failed',
    },
    { level: 'warn', fields: { errorId, requestId: stream.headers['x-request-id'] }, message: 'stream failed' },
  ]);
});

it('says when a retry makes sense', async () => {
  const { app } = await server({
    runner: {
      enqueue: () => Promise.reject(new AppError('queue_full', 'Too many runs wait', { retryAfter: 3 })),
    },
  });

  const answer = await app.inject({ method: 'POST', url: '/run', payload: runBody() });

  expect(answer.statusCode).toBe(429);
  expect(answer.headers['retry-after']).toBe('3');
});

it.each([
  ['no app name', { appName: undefined }, 'appName: is missing'],
  ['a number as app name', { appName: 7 }, 'appName: expected string, received number'],
  ['an object as session id', { sessionId: { toString: 1 } }, 'sessionId: expected string, received object'],
  ['a control character in a name', { userId: 'a\u0000b' }, 'userId: holds a control character'],
  ['a path as name', { appName: '../demo' }, 'appName: holds a slash'],
  ['a text as message', { newMessage: 'Hi' }, 'newMessage: expected object, received string'],
  ['a message without parts', { newMessage: { role: 'user' } }, 'newMessage.parts: must have at least one part'],
  [
    'too many parts',
    { newMessage: { parts: Array.from({ length: 1001 }, () => ({ text: 'x' })) } },
    'newMessage.parts: must not have more than 1000 parts',
  ],
  ['an empty part', { newMessage: { parts: [{}] } }, 'newMessage.parts: has an empty part'],
  ['a text as part', { newMessage: { parts: ['x'] } }, 'newMessage.parts.0: expected object, received string'],
  ['a text as state', { stateDelta: 'abc' }, 'stateDelta: expected record, received string'],
  ['an unknown policy', { onBusy: 'panic' }, 'onBusy: '],
])('refuses a run request with %s', async (_name, fields, fault) => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: '/run_sse', payload: runBody('Hi', fields) });

  expect(answer.statusCode).toBe(400);
  expect(answer.json<{ detail: string }>().detail).toContain(`Invalid request body: ${fault}`);
});

it('takes the default app for requests that name none', async () => {
  const seen: string[] = [];
  const { app } = await server({
    async *script({ appName }) {
      seen.push(appName);
      yield says('ok');
    },
    config: { defaultApp: 'demo' },
  });

  const session = await app.inject({ method: 'POST', url: '/users/u/sessions/s' });
  const info = await app.inject('/app-info');
  const run = await app.inject({ method: 'POST', url: '/run', payload: runBody('Hi', { appName: undefined }) });
  await app.inject({ method: 'POST', url: '/run', payload: runBody('Hi', { appName: 'other' }) });

  expect([session.statusCode, info.statusCode, run.statusCode]).toEqual([200, 200, 200]);
  expect(session.json()).toMatchObject({ id: 's', appName: 'demo' });
  expect(seen).toEqual(['demo', 'other']);
});
