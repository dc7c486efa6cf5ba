import { expect, it, vi } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import type { Agent } from '../../../src/core/runtime.ts';
import { textContent } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { Run } from '../../../src/schemas/run-record.ts';
import { readFrames, type SseFrame } from '../../support/sse-frames.ts';
import { httpPost, rawClient } from '../raw-client.ts';
import { SteppedAgent, stores, withStores } from '../run-server.ts';
import { listen } from '../server.ts';

const runServer = withStores();

const idsOf = (runId: string): string[] =>
  ['0.1', '0.2', '1', '1.1', '1.2', '1.3', '2'].map((place) => `${runId}:${place}`);

it.each(stores)('streams a run to everybody who joins, from its first event (%s)', async (store) => {
  const agent = new SteppedAgent('Hi', 'you');
  const { start, follow, read } = await runServer(agent, store);
  const { id } = (await start('one')).json<Run>();
  for (let steps = 0; steps < 4; steps += 1) {
    await vi.waitUntil(() => agent.isWaiting);
    agent.step();
  }
  const joined = [follow(id), follow(id)];
  agent.open();

  const [first, second] = await Promise.all(joined);
  expect(first!.map((frame) => frame.id)).toEqual(idsOf(id));
  expect(second).toEqual(first);
  expect(await read(id)).toMatchObject({ status: 'done' });
  expect(await follow(id)).toEqual(first);
});

it.each(stores)('goes on behind any frame without a gap or a repetition (%s)', async (store) => {
  const agent = new SteppedAgent('Hi', 'you');
  agent.isOpen = true;
  const { start, follow } = await runServer(agent, store);
  const { id } = (await start('one')).json<Run>();
  const all = await follow(id);

  for (const [index, frame] of all.entries()) {
    expect(await follow(id, frame.id)).toEqual(all.slice(index + 1));
  }
});

it.each(stores)('refuses to go on behind a frame of another run (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  agent.isOpen = true;
  const { app, start, runs } = await runServer(agent, store);
  const { id } = (await start('one')).json<Run>();

  for (const last of ['e-other:1', `${id}:x`, id, `${id}:1.2.3`]) {
    const answer = await app.inject({ url: `${runs}/${id}/stream`, headers: { 'last-event-id': last } });
    expect(answer.statusCode).toBe(400);
  }
  expect((await app.inject(`${runs}/${id}/stream?lastEventId=${id}:1`)).body).toBe('');
});

it.each(stores)('shows the whole events of a run that nobody had joined before (%s)', async (store) => {
  const agent = new SteppedAgent('Hi', 'you');
  agent.isOpen = true;
  const { app, key, follow } = await runServer(agent, store);
  const payload = { ...key, newMessage: { parts: [{ text: 'one' }] } };
  const answer = await app.inject({ method: 'POST', url: '/run_sse', payload });
  const id = String(answer.headers['x-run-id']);

  const frames = await follow(id);

  expect(frames.map((frame) => frame.id)).toEqual([`${id}:1`, `${id}:2`]);
  const whole = readFrames(answer.body).frames.filter(({ data }) => data['partial'] === undefined);
  expect(frames.map(({ json }) => json)).toEqual(whole.map(({ json }) => json));
});

it.each(stores)('lets another client join a plain stream under way (%s)', async (store) => {
  const agent = new SteppedAgent('Hi', 'you');
  const { app, key, follow, runs } = await runServer(agent, store);
  const payload = { ...key, newMessage: { parts: [{ text: 'one' }] } };
  const plain = app.inject({ method: 'POST', url: '/run_sse', payload });
  for (let steps = 0; steps < 3; steps += 1) {
    await vi.waitUntil(() => agent.isWaiting);
    agent.step();
  }
  await vi.waitUntil(() => agent.isWaiting);
  const [run] = (await app.inject(runs)).json<Run[]>();
  const joined = follow(run!.id);
  agent.open();

  const frames = await joined;
  expect(frames.map(({ id }) => id)).toEqual(['1', '1.1', '1.2', '1.3', '2'].map((place) => `${run!.id}:${place}`));
  expect(frames.map(({ json }) => json)).toEqual(
    readFrames((await plain).body)
      .frames.slice(2)
      .map(({ json }) => json),
  );
});

it.each(stores)('lets a resumable stream be left and taken up again (%s)', async (store) => {
  const agent = new SteppedAgent('Hi', 'you');
  const { app, key, follow, read } = await runServer(agent, store);
  const { socket, received } = await rawClient(await listen(app));
  socket.write(httpPost('/run_sse', { ...key, resumable: true, newMessage: { parts: [{ text: 'one' }] } }));
  for (let steps = 0; steps < 4; steps += 1) {
    await vi.waitUntil(() => agent.isWaiting);
    agent.step();
  }
  await vi.waitUntil(() => received().includes(':1.1\n'));
  const id = /x-run-id: (\S+)/.exec(received())![1]!;
  socket.destroy();
  const rest = follow(id, `${id}:1.1`);
  agent.open();

  expect((await rest).map((frame) => frame.id)).toEqual(idsOf(id).slice(4));
  expect(await read(id)).toMatchObject({ status: 'done' });
});

it.each(stores)('cancels a resumable run with its client when asked to (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { app, key, runs } = await runServer(agent, store);
  const { socket } = await rawClient(await listen(app));
  const body = { ...key, resumable: true, onDisconnect: 'cancel', newMessage: { parts: [{ text: 'one' }] } };
  socket.write(httpPost('/run_sse', body));
  await vi.waitUntil(() => agent.isWaiting);
  socket.destroy();

  await vi.waitFor(async () => expect((await app.inject(`${runs}?status=cancelled`)).json()).toHaveLength(1));
});

it.each(stores)('gives every event of a long run that is held no longer, from any place (%s)', async (store) => {
  const words = Array.from({ length: 12 }, (_, index) => `${index} ${'x'.repeat(1_000_000)}`);
  const agent: Agent = {
    name: 'root',
    async *run(ctx) {
      for (const word of words) yield newEvent(ctx, 'root', { content: textContent('model', word) });
    },
  };
  const { start, follow, wait } = await runServer(agent, store);
  const run: Run = (await start('Hi', {}, { 'idempotency-key': 'k' })).json();
  const during = follow(run.id);
  expect(await wait(run.id)).toMatchObject({ status: 'done' });

  const read = async (frames: Promise<SseFrame[]>): Promise<unknown[]> =>
    (await frames).map(({ id, data }) => [id, (data as unknown as Event).content?.parts[0]?.text]);
  const all = words.map((word, index) => [`${run.id}:${index + 1}`, word]);
  expect(await read(during)).toEqual(all);
  expect(await read(follow(run.id))).toEqual(all);
  expect(await read(follow(run.id, `${run.id}:3`))).toEqual(all.slice(3));
  expect(await read(follow(run.id, `${run.id}:11.4`))).toEqual(all.slice(11));
  const again = await start('Hi', {}, { 'idempotency-key': 'k' });
  expect([again.json<Run>().id, again.headers['idempotency-replayed']]).toEqual([run.id, 'true']);
});
