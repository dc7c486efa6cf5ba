import { expect, it, vi } from 'vitest';
import type { Run } from '../../../src/schemas/run-record.ts';
import { httpPost, rawClient } from '../raw-client.ts';
import { SteppedAgent, stores, withStores } from '../run-server.ts';
import { listen } from '../server.ts';

const runServer = withStores();
const say = (text: string) => ({ newMessage: { role: 'user', parts: [{ text }] } });

it.each(stores)(
  'begins the stream of a run that has to wait, and lets its client leave the line (%s)',
  async (store) => {
    const agent = new SteppedAgent('Hi');
    const { app, key, start } = await runServer(agent, store);
    const url = await listen(app);
    await start('one');
    await vi.waitUntil(() => agent.isWaiting);
    const waiting = await rawClient(url);
    const leaving = await rawClient(url);

    leaving.socket.write(httpPost('/run_sse', { ...key, ...say('two') }));
    await vi.waitUntil(() => leaving.received().includes('\r\n\r\n'));
    leaving.socket.destroy();
    waiting.socket.write(httpPost('/run_sse', { ...key, ...say('three') }));
    await vi.waitUntil(() => waiting.received().includes('\r\n\r\n'));
    const [head] = waiting.received().split('\r\n\r\n');
    expect(agent.begun).toEqual(['one']);
    agent.open();
    await vi.waitUntil(() => waiting.received().endsWith('0\r\n\r\n'));

    expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    const runId = /^x-run-id: (.*)\r$/m.exec(`${head}\r\n`)?.[1];
    expect(waiting.received()).toContain(`"invocationId":"${runId}"`);
    expect(agent.begun).toEqual(['one', 'three']);
  },
);

it.each(stores)('keeps the connection of a stream that waits alive (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { app, key, start } = await runServer(agent, { store, config: { keepAliveMs: 50 } });
  await start('one');
  await vi.waitUntil(() => agent.isWaiting);
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', { ...key, ...say('two') }));

  await vi.waitFor(() => expect(received().split(': keep-alive').length).toBeGreaterThan(2), { timeout: 5000 });
  agent.open();
});

it.each(stores)('answers what turns a run away at once as plain HTTP (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { app, key, start } = await runServer(agent, { store, maxQueued: 1 });
  await start('one');
  await start('and one that waits');
  await vi.waitUntil(() => agent.isWaiting);
  const run = async (fields: object): Promise<[number, string]> => {
    const answer = await app.inject({ method: 'POST', url: '/run_sse', payload: { ...key, ...say('two'), ...fields } });
    return [answer.statusCode, answer.json<{ code: string }>().code];
  };

  expect(await run({})).toEqual([429, 'queue_full']);
  expect(await run({ onBusy: 'reject' })).toEqual([409, 'session_busy']);
  expect(await Promise.all([run({ sessionId: 'none' }), run({ sessionId: 'none' })])).toEqual([
    [404, 'session_not_found'],
    [404, 'session_not_found'],
  ]);
  expect(await run({ newMessage: { parts: [] } })).toEqual([400, 'invalid_request']);
  agent.open();
});

it.each(stores)('ends the stream of a run that is ended before its turn with an error frame (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const { app, key, start, cancel } = await runServer(agent, store);
  await start('one');
  await vi.waitUntil(() => agent.isWaiting);
  const { socket, received } = await rawClient(await listen(app));
  socket.write(httpPost('/run_sse', { ...key, ...say('two') }));
  await vi.waitUntil(() => received().includes('\r\n\r\n'));

  await cancel(/^x-run-id: (.*)\r$/m.exec(received())?.[1] ?? '');

  await vi.waitUntil(() => received().endsWith('0\r\n\r\n'));
  expect(received()).toMatch(/data: \{"error":"[^"]+","errorCode":"run_cancelled",/);
  agent.open();
});

it('tells of a run in the background that it waits', async () => {
  const agent = new SteppedAgent('Hi');
  const { start } = await runServer(agent, 'memory');
  await start('one');
  await vi.waitUntil(() => agent.isWaiting);

  expect((await start('two')).json<Run>()).toMatchObject({ status: 'queued' });
  agent.open();
});
