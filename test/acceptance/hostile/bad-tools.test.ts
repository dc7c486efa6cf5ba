import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesOf, newSession, readSession, runBody, runEvents, textOf, type WireEvent } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const responseOf = (events: readonly WireEvent[], name: string): Record<string, unknown> | undefined =>
  events.flatMap((event) => event.content?.parts ?? []).find((part) => part.functionResponse?.name === name)
    ?.functionResponse?.response;

it.each([
  ['throws', { error: expect.stringContaining('the tool broke') as unknown }],
  ['throws_odd', { error: expect.any(String) as unknown }],
  ['unknown', { error: expect.stringContaining('no_such_tool') as unknown }],
  ['bad args', { error: expect.stringContaining('text') as unknown }],
])('hands the failure of "%s" to the model, and the run goes on', async (command, response) => {
  const { id, path } = await newSession(server.client, 'probe');

  const events = await runEvents(server.client, runBody('probe', id, command));

  expect(responseOf(events, events[0]!.content!.parts[0]!.functionCall!.name)).toMatchObject(response);
  expect(events).toHaveLength(3);
  expect((await readSession(server.client, path)).events).toHaveLength(4);
});

it('tells the model which tools there are when it calls one that is not', async () => {
  const { id } = await newSession(server.client, 'probe');

  const events = await runEvents(server.client, runBody('probe', id, 'unknown'));

  expect(responseOf(events, 'no_such_tool')!['error']).toContain('echo');
});

it('keeps a tool failure free of stacks and paths', async () => {
  const { id } = await newSession(server.client, 'probe');

  const events = await runEvents(server.client, runBody('probe', id, 'throws'));

  expect(JSON.stringify(responseOf(events, 'throws'))).not.toMatch(/\.ts:\d/); // that is for authors, not for models
  expect(JSON.stringify(events)).not.toMatch(/\bat .*\(|node_modules|"\/[^"]+\.ts/);
});

it.each([
  ['undefined', {}],
  ['null', {}],
  ['number', { result: 7 }],
  ['text', { result: 'plain' }],
  ['list', { result: [1, 'two'] }],
  ['nan', { value: null }],
  ['bigint', { value: '10' }],
  ['circular', { name: 'ring' }],
  ['function', {}],
  ['symbol', {}],
  ['date', {}],
  ['map', {}],
  ['error', {}],
  ['proto', {}],
  ['surrogate', {}],
  ['nul', {}],
  ['getter', {}],
  ['json', {}],
])('stores and sends the odd result "%s" as a JSON object', async (kind, response) => {
  const { id, path } = await newSession(server.client, 'probe');

  const answer = await server.client.post('/run_sse', runBody('probe', id, `odd ${kind}`));

  const events = framesOf(answer.text) as WireEvent[];
  expect(responseOf(events, 'odd')).toMatchObject(response);
  expect(textOf(events.at(-1))).toBe('odd is over');
  expect((await readSession(server.client, path)).events.slice(1)).toEqual(events);
  expect((await server.client.get(`/debug/trace/session/${id}`)).status).toBe(200);
});

it('passes a result of five megabytes, whole or cut with a note for the model', async () => {
  const { id, path } = await newSession(server.client, 'probe');

  const events = await runEvents(server.client, runBody('probe', id, 'big'));

  const response = responseOf(events, 'big')!;
  const whole = typeof response['text'] === 'string' && response['text'].length === 5_000_000;
  const cut =
    String(response['result']).startsWith('{"text":"bbb') && String(response['truncated']).includes('5000011');
  expect(whole || cut).toBe(true);
  expect(textOf(events.at(-1))).toBe('big is over');
  expect((await readSession(server.client, path)).events).toHaveLength(4);
});

it('survives a rejection that a tool leaves behind, and logs it', async () => {
  const { id } = await newSession(server.client, 'probe');

  await runEvents(server.client, runBody('probe', id, 'rejects_late'));

  await expect.poll(() => server.process.stderr, { timeout: 5_000 }).toContain('a late rejection');
  expect(textOf((await runEvents(server.client, runBody('probe', id, 'echo still here'))).at(-1))).toBe('still here');
});

it('survives 50 late rejections under load', async () => {
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { id } = await newSession(server.client, 'probe');
      await runEvents(server.client, runBody('probe', id, 'rejects_late'));
      await sleep(60);
      expect(await runEvents(server.client, runBody('probe', id, 'echo on'))).toHaveLength(3);
    }),
  );
});

it('ends a tool that never answers when its client leaves, and frees the session', async () => {
  const { id } = await newSession(server.client, 'probe');
  const stream = await server.process.sse('/run_sse', runBody('probe', id, 'never'));
  for await (const frame of stream) {
    expect(JSON.stringify(frame.data)).toContain('never');
    break;
  }
  stream.leave();

  expect(textOf((await runEvents(server.client, runBody('probe', id, 'echo free'))).at(-1))).toBe('free');
});

it('gives a tool that never answers up after its time and tells the model', async () => {
  const { id } = await newSession(server.client, 'probe');

  const events = await runEvents(server.client, runBody('probe', id, 'never', { runConfig: { toolTimeoutMs: 200 } }));

  expect(responseOf(events, 'never')).toMatchObject({ error: expect.any(String) as unknown });
  expect(textOf(events.at(-1))).toBe('never is over');
});

it('ends a run that takes longer than it may with timed_out', async () => {
  const { id, path } = await newSession(server.client, 'probe');

  const answer = await server.client.post('/run', runBody('probe', id, 'never', { runConfig: { timeoutMs: 300 } }));

  expect(answer).toBeProblem(504, 'timed_out');
  expect((await readSession(server.client, path)).events.length).toBeGreaterThanOrEqual(1);
  expect(textOf((await runEvents(server.client, runBody('probe', id, 'echo free'))).at(-1))).toBe('free');
});

it('stops an endless tool loop at 500 model calls, and answers others meanwhile', { timeout: 60_000 }, async () => {
  const { id, path } = await newSession(server.client, 'probe');
  const looping = server.client.post('/run', runBody('probe', id, 'spin'));
  const other = await newSession(server.client, 'probe');
  for (let turn = 0; turn < 5; turn += 1) await runEvents(server.client, runBody('probe', other.id, `echo ${turn}`));

  const answer = await looping;

  expect(answer).toBeProblem(500, 'LlmCallsLimitExceededException');
  const { events } = await readSession(server.client, path);
  const calls = events.filter((event) => event.content?.parts.some((part) => part.functionCall));
  expect(calls).toHaveLength(500);
});

it('obeys the maxLlmCalls of a request', async () => {
  const { id, path } = await newSession(server.client, 'probe');

  const stream = await server.process.sse('/run_sse', runBody('probe', id, 'spin', { runConfig: { maxLlmCalls: 3 } }));
  const frames = await stream.all();

  expect(frames.at(-1)).toMatchObject({ errorCode: 'LlmCallsLimitExceededException' });
  const { events } = await readSession(server.client, path);
  expect(events.filter((event) => event.content?.parts.some((part) => part.functionCall))).toHaveLength(3);
  expect(textOf((await runEvents(server.client, runBody('probe', id, 'hi'))).at(-1))).toBe('Hello!');
});
