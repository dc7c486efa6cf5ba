import { expect, it, vi } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { newEvent } from '../../../src/core/events/new-event.ts';
import type { Agent } from '../../../src/core/runtime.ts';
import { scriptedModel } from '../../../src/models/scripted/scripted.ts';
import type { Run } from '../../../src/schemas/run-record.ts';
import { saying } from '../../support/run.ts';
import { SteppedAgent, stores, withStores } from '../run-server.ts';

const runServer = withStores();

it.each(stores)('starts a run in the background and tells how it is (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { start, read, wait, runs, texts } = await runServer(agent, store);

  const answer = await start('hello');
  const run: Run = answer.json();

  expect(answer.statusCode).toBe(202);
  expect(answer.headers).toMatchObject({ 'x-run-id': run.id, location: `${runs}/${run.id}` });
  expect(run).toEqual({
    id: expect.stringMatching(/^e-/),
    appName: 'app',
    userId: 'u',
    sessionId: expect.any(String),
    status: 'running',
    createdAt: expect.any(Number),
    startedAt: expect.any(Number),
  });
  expect(await read(run.id)).toMatchObject({ id: run.id, status: 'running' });

  agent.open();

  expect(await wait(run.id)).toMatchObject({ id: run.id, status: 'done', endedAt: expect.any(Number) });
  expect(await texts()).toEqual(['hello', 'Hi']);
});

it.each(stores)('lists the runs of a session, newest first, whatever started them (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { app, key, start, wait, runs } = await runServer(agent, store);
  agent.isOpen = true;
  const payload = { ...key, newMessage: { parts: [{ text: 'one' }] } };
  const first = await app.inject({ method: 'POST', url: '/run', payload });
  const second = await app.inject({ method: 'POST', url: '/run_sse', payload });
  agent.isOpen = false;
  const third = await start('three');
  const fourth = await start('four');

  const list: Run[] = (await app.inject(runs)).json();
  expect(list.map(({ id }) => id)).toEqual([fourth, third, second, first].map(({ headers }) => headers['x-run-id']));
  expect(list.map(({ status }) => status)).toEqual(['queued', 'running', 'done', 'done']);
  expect((await app.inject(`${runs}?status=queued`)).json()).toEqual([list[0]]);
  expect((await app.inject(`${runs}?limit=2`)).json()).toHaveLength(2);
  expect((await app.inject(`${runs}?status=odd`)).statusCode).toBe(400);

  agent.open();
  expect(await wait(fourth.json<Run>().id)).toMatchObject({ status: 'done' });
});

it.each(stores)('answers at once what is the fault of the caller (%s)', async (store) => {
  const { app, runs, start } = await runServer(saying('Hi'), store);
  const post = async (url: string, payload: object) => (await app.inject({ method: 'POST', url, payload })).json();
  const newMessage = { parts: [{ text: 'Hi' }] };

  expect(await post(runs.replace(/sessions\/[^/]+/, 'sessions/none'), { newMessage })).toMatchObject({ status: 404 });
  expect(await post(runs, {})).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await post(runs, { newMessage: { parts: [] } })).toMatchObject({ status: 400 });
  expect(await post(runs, { invocationId: 'e-none' })).toMatchObject({ status: 404, code: 'run_not_found' });
  expect((await start('Hi', { onBusy: 'later' })).statusCode).toBe(400);
  expect((await app.inject(`${runs}/e-none`)).json()).toMatchObject({ status: 404, code: 'run_not_found' });
  expect((await app.inject(`${runs}/e-none/stream`)).json()).toMatchObject({ code: 'run_not_found' });
  expect((await app.inject({ method: 'POST', url: `${runs}/e-none/cancel` })).statusCode).toBe(404);
  expect((await app.inject(runs)).json()).toEqual([]);
});

it.each(stores)('waits for a run no longer than it was asked to (%s)', async (store) => {
  const { app, start, runs } = await runServer(new SteppedAgent('Hi'), store);
  const { id } = (await start('hello')).json<Run>();

  expect((await app.inject(`${runs}/${id}/wait?timeoutMs=20`)).json()).toMatchObject({ id, status: 'running' });
});

it.each(stores)('says why a run failed (%s)', async (store) => {
  const failing: Agent = {
    name: 'root',
    // oxlint-disable-next-line require-yield
    async *run() {
      throw new Error('out of order');
    },
  };
  const { start, wait, follow } = await runServer(failing, store);
  const { id } = (await start('hello')).json<Run>();

  const message = expect.stringMatching(/^Error: out of order \(at test\/http\/routes\/runs\.test\.ts:\d+\)$/);
  expect(await wait(id)).toMatchObject({ status: 'failed', error: { code: 'internal', message } });
  expect((await follow(id)).at(-1)?.data).toMatchObject({
    error: message,
    errorCode: 'internal',
    errorMessage: message,
  });
});

it.each(stores)('calls the failure of a model by one name, whatever the provider calls it (%s)', async (store) => {
  const model = scriptedModel([{ error: { code: 'RESOURCE_EXHAUSTED', message: 'Too much', throw: true } }]);
  const { start, wait, read, follow } = await runServer(llmAgent({ name: 'root', model }), store);
  const { id } = (await start('hello')).json<Run>();

  expect(await wait(id)).toMatchObject({ status: 'failed', error: { code: 'model_failed', message: 'Too much' } });
  expect(await read(id)).toMatchObject({ error: { code: 'model_failed', message: 'Too much' } });
  expect((await follow(id)).map(({ data }) => data)).toMatchObject([
    { errorCode: 'RESOURCE_EXHAUSTED' },
    { errorCode: 'model_failed' },
  ]);
});

it.each(stores)('calls a run with open calls waiting until a later message answers them (%s)', async (store) => {
  const call = { id: 'c-1', name: 'approve', args: {} };
  const asking: Agent = {
    name: 'root',
    async *run(ctx) {
      if (ctx.userContent?.parts[0]?.functionResponse) return;
      const content = { role: 'model', parts: [{ functionCall: call }] };
      yield newEvent(ctx, 'root', { content, longRunningToolIds: ['c-1'] });
    },
  };
  const { start, wait, read } = await runServer(asking, store);
  const { id } = (await start('buy it')).json<Run>();

  expect(await wait(id)).toMatchObject({
    status: 'waiting',
    openCalls: [{ id: 'c-1', name: 'approve', eventId: expect.any(String) }],
  });
  const response = { id: 'c-1', name: 'approve', response: { ok: true } };
  const answer = await start('', { newMessage: { role: 'user', parts: [{ functionResponse: response }] } });

  expect(await wait(answer.json<Run>().id)).toMatchObject({ status: 'done' });
  expect(await read(id)).toMatchObject({ status: 'done' });
});

it.each(stores)(
  'cancels a run at work and one that waits in line, and leaves one alone that is over (%s)',
  async (store) => {
    const agent = new SteppedAgent('Hi');
    const { start, cancel, read, texts } = await runServer(agent, store);
    const running = (await start('one')).json<Run>();
    const queued = (await start('two')).json<Run>();
    await vi.waitUntil(() => agent.isWaiting);
    expect(queued.status).toBe('queued');

    const second = (await cancel(queued.id)).json<Run>();
    const first = (await cancel(running.id)).json<Run>();
    const again = (await cancel(running.id)).json<Run>();

    expect(second).toMatchObject({ status: 'cancelled', error: { code: 'run_cancelled' } });
    expect(second.startedAt).toBeUndefined();
    expect(first).toMatchObject({ status: 'cancelled', endedAt: expect.any(Number) });
    expect(again).toEqual(first);
    expect(await read(queued.id)).toMatchObject({ status: 'cancelled' });
    expect(await texts()).toEqual(['one', 'run_cancelled']);
  },
);

it.each(stores)('cancels a run that another connection streams (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { app, key, cancel, runs } = await runServer(agent, store);
  const payload = { ...key, newMessage: { parts: [{ text: 'one' }] } };
  const stream = app.inject({ method: 'POST', url: '/run_sse', payload });
  await vi.waitUntil(() => agent.isWaiting);
  const [run] = (await app.inject(runs)).json<Run[]>();

  expect((await cancel(run!.id)).json()).toMatchObject({ status: 'cancelled' });
  expect((await stream).headers['x-run-id']).toBe(run!.id);
  expect((await stream).body).toContain('"error":"The run was cancelled"');
});

it.each(stores)('takes back what a run did when it is cancelled with rollback (%s)', async (store) => {
  const agent = new SteppedAgent('Hi', 'again');
  const { start, cancel, services, key } = await runServer(agent, store);
  const { id } = (await start('one', { stateDelta: { mood: 'new' } })).json<Run>();
  for (let steps = 0; steps < 3; steps += 1) {
    await vi.waitUntil(() => agent.isWaiting);
    agent.step();
  }
  await vi.waitUntil(() => agent.isWaiting);

  expect((await cancel(id, { rollback: true })).json()).toMatchObject({ status: 'cancelled' });
  const session = await services.sessions.getSession(key);
  expect(session!.events.at(-1)?.actions.rewindBeforeInvocationId).toBe(id);
  expect(session!.state).toEqual({});
});

it.each(stores)(
  'accepts more runs than may be at work, stores what was said, and ends one that waits (%s)',
  async (store) => {
    const agent = new SteppedAgent('Hi');
    const { app, key, services, start, wait, cancel } = await runServer(agent, { store, maxBackgroundRuns: 1 });
    const first: Run = (await start('first')).json();
    await vi.waitUntil(() => agent.isWaiting);
    const elsewhere = async (text: string): Promise<{ url: string; run: Run }> => {
      const { id: sessionId } = await services.sessions.createSession(key);
      const url = `/apps/app/users/u/sessions/${sessionId}/runs`;
      const payload = { newMessage: { role: 'user', parts: [{ text }] } };
      const answer = await app.inject({ method: 'POST', url, payload });
      expect(answer.statusCode).toBe(202);
      return { url, run: answer.json() };
    };
    const second = await elsewhere('second');
    const third = await elsewhere('third');

    expect(agent.begun).toEqual(['first']);
    const said = await services.sessions.getSession({ ...key, sessionId: second.run.sessionId });
    expect(said?.events[0]?.content?.parts[0]?.text).toBe('second');
    const ended = await app.inject({ method: 'POST', url: `${second.url}/${second.run.id}/cancel` });
    expect(ended.json()).toMatchObject({ status: 'cancelled' });
    expect(await cancel(first.id).then((answer) => answer.json<Run>())).toMatchObject({ status: 'cancelled' });
    await vi.waitUntil(() => agent.isWaiting);
    expect(agent.begun).toEqual(['first', 'third']);
    agent.open();
    const done = await app.inject(`${third.url}/${third.run.id}/wait`);

    expect(done.json()).toMatchObject({ status: 'done' });
    expect(await wait(first.id)).toMatchObject({ status: 'cancelled' });
  },
);
