import { expect, it, vi } from 'vitest';
import { activeEvents } from '../../../src/core/events/history.ts';
import type { Run } from '../../../src/schemas/run-record.ts';
import { SteppedAgent, stores, withStores } from '../run-server.ts';

const runServer = withStores();

it.each(stores)('queues runs in their order, up to a limit (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { start, wait } = await runServer(agent, store);
  const answers = [];
  for (const text of ['one', 'two', 'three', 'four']) answers.push(await start(text));

  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202, 429]);
  expect(answers[3]!.headers['retry-after']).toBe('1');
  expect(answers[3]!.json()).toMatchObject({ code: 'queue_full' });

  agent.open();
  await wait(answers[2]!.json<Run>().id);
  expect(agent.begun).toEqual(['one', 'two', 'three']);
});

it.each(stores)('accepts exactly one of many runs under the policy reject (%s)', async (store) => {
  const { start } = await runServer(new SteppedAgent('Hi'), store);

  const answers = await Promise.all(Array.from({ length: 20 }, () => start('go', { onBusy: 'reject' })));

  expect(answers.filter(({ statusCode }) => statusCode === 202)).toHaveLength(1);
  expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(19);
  expect(answers.find(({ statusCode }) => statusCode === 409)!.json()).toMatchObject({ code: 'session_busy' });
});

it.each(stores)('lets a run interrupt the one at work, which keeps what it stored (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { start, wait, read, texts } = await runServer(agent, store);
  const first = (await start('one')).json<Run>();
  await vi.waitUntil(() => agent.isWaiting);
  agent.isOpen = true;
  const second = (await start('two', { onBusy: 'interrupt' })).json<Run>();

  expect(await wait(second.id)).toMatchObject({ status: 'done' });
  expect(await read(first.id)).toMatchObject({ status: 'interrupted', error: { code: 'run_interrupted' } });
  expect(await texts()).toEqual(['one', 'run_interrupted', 'two', 'Hi']);
});

it.each(stores)('lets a run take the place of the one at work, and takes back what that did (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { start, wait, read, services, key } = await runServer(agent, store);
  const first = (await start('one', { stateDelta: { mood: 'old' } })).json<Run>();
  await vi.waitUntil(() => agent.isWaiting);
  agent.isOpen = true;
  const second = (await start('two', { onBusy: 'rollback' })).json<Run>();

  expect(await wait(second.id)).toMatchObject({ status: 'done' });
  expect(await read(first.id)).toMatchObject({ status: 'interrupted' });
  const session = await services.sessions.getSession(key);
  expect(session!.events.map(({ actions }) => actions.rewindBeforeInvocationId)).toContain(first.id);
  expect(session!.state).toEqual({});
});

/** Keeps runs from ending until they may. */
function slowEnding() {
  const mayEnd = Promise.withResolvers<void>();
  return { plugin: { name: 'slow', afterRun: () => mayEnd.promise }, end: mayEnd.resolve };
}

it.each(stores)('answers the last of runs that interrupt each other, and keeps their order (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { plugin, end } = slowEnding();
  const { start, wait, read, texts } = await runServer(agent, { store, plugins: [plugin] });
  const first = (await start('one')).json<Run>();
  await vi.waitUntil(() => agent.isWaiting);
  const plain = (await start('plain')).json<Run>();
  const second = (await start('two', { onBusy: 'interrupt' })).json<Run>();
  const third = (await start('three', { onBusy: 'interrupt' })).json<Run>();
  agent.isOpen = true;
  end();

  expect(await wait(third.id)).toMatchObject({ status: 'done' });
  expect(await wait(plain.id)).toMatchObject({ status: 'done' });
  for (const { id } of [first, second]) expect(await read(id)).toMatchObject({ status: 'interrupted' });
  const said = ['one', 'run_interrupted', 'two', 'run_interrupted', 'three', 'Hi', 'plain', 'Hi'];
  expect(await texts()).toEqual(said);
  expect(agent.begun).toEqual(['one', 'three', 'plain']);
});

it.each(stores)('takes back all but the last of runs that roll each other back (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { plugin, end } = slowEnding();
  const { start, wait, services, key } = await runServer(agent, { store, plugins: [plugin] });
  await start('one', { stateDelta: { mood: 'old', one: 1 } });
  await vi.waitUntil(() => agent.isWaiting);
  await start('two', { onBusy: 'rollback', stateDelta: { mood: 'new', two: 2 } });
  const third = (await start('three', { onBusy: 'rollback', stateDelta: { three: 3 } })).json<Run>();
  agent.isOpen = true;
  end();

  expect(await wait(third.id)).toMatchObject({ status: 'done' });
  const session = (await services.sessions.getSession(key))!;
  const active = activeEvents(session.events).filter(({ content }) => content);
  expect(active.map(({ content }) => content?.parts[0]?.text)).toEqual(['three', 'Hi']);
  expect(session.state).toEqual({ three: 3 });
});

it.each(stores)('takes many runs that interrupt each other at once, and answers one (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { start, wait, texts, app, runs } = await runServer(agent, store);
  await start('first');
  await vi.waitUntil(() => agent.isWaiting);

  const started = await Promise.all(Array.from({ length: 60 }, (_, n) => start(`${n}`, { onBusy: 'interrupt' })));
  expect(new Set(started.map(({ statusCode }) => statusCode))).toEqual(new Set([202]));
  agent.open();
  await Promise.all(started.map((answer) => wait(answer.json<Run>().id)));

  const listed = (await app.inject(`${runs}?limit=100`)).json<Run[]>().map(({ status }) => status);
  expect(listed.filter((status) => status === 'interrupted')).toHaveLength(60);
  expect(listed.filter((status) => status === 'done')).toHaveLength(1);
  const said = await texts();
  expect(said.filter((text) => /^\d+$/.test(text))).toHaveLength(60);
  expect(said.at(-1)).toBe('Hi');
});

it.each(stores)('starts one run for an idempotency key, and answers its repetitions with it (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { start, wait, texts } = await runServer(agent, store);
  const key = { 'idempotency-key': 'k-1' };

  const [first, second] = await Promise.all([start('one', {}, key), start('one', {}, key)]);
  agent.open();
  await wait(first.json<Run>().id);
  const third = await start('one', {}, key);
  const other = await start('two', {}, key);

  expect([second.statusCode, third.statusCode]).toEqual([202, 202]);
  expect(new Set([first, second, third].map((answer) => answer.json<Run>().id)).size).toBe(1);
  const replayed = [first, second, third].map(({ headers }) => headers['idempotency-replayed']);
  expect(replayed.filter((value) => value === 'true')).toHaveLength(2);
  expect(other.json()).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  expect(await texts()).toEqual(['one', 'Hi']);
});

it.each(stores)('repeats the answer of /run and /run_sse to the same key (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  agent.isOpen = true;
  const { app, key, texts } = await runServer(agent, store);
  const send = (url: string, idempotencyKey: string) =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'idempotency-key': idempotencyKey },
      payload: { ...key, newMessage: { parts: [{ text: 'one' }] } },
    });

  const runs = [await send('/run', 'a'), await send('/run', 'a')];
  const streams = [await send('/run_sse', 'b'), await send('/run_sse', 'b')];

  expect(runs[1]!.json()).toEqual(runs[0]!.json());
  expect(streams[1]!.body).toBe(streams[0]!.body);
  expect(runs[1]!.headers).toMatchObject({
    'idempotency-replayed': 'true',
    'x-run-id': runs[0]!.headers['x-run-id'],
  });
  expect(await texts()).toEqual(['one', 'Hi', 'one', 'Hi']);
  expect((await send('/run', ' ')).statusCode).toBe(400);
});
