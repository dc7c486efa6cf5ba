import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, sessionsPath } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';

let server: ProbeServer;
let path = '';
let id = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ path, id } = await newSession(server.client, 'chat'));
});
afterAll(() => server.stop());

const listOf = (item: string, count: number): string => `[${`${item},`.repeat(count)}${item}]`;
const keysOf = (value: string, count: number): string =>
  `{${Array.from({ length: count }, (_unused, index) => `"k${index}":${value}`).join(',')}}`;
const event = (field: string): string => `{"id":"1","author":"user","timestamp":1,${field}}`;
const run = (fields: string): string => `{"appName":"chat","userId":"user","sessionId":"any",${fields}}`;

/** Bodies below the size limit that hold as many small values as fit: each value costs far more than its bytes. */
const swarms: readonly [string, string, () => string][] = [
  ['3,000,000 empty parts', '/run', () => run(`"newMessage":{"parts":${listOf('{}', 3_000_000)}}`)],
  ['4,000,000 parts that are numbers', '/run', () => run(`"newMessage":{"parts":${listOf('1', 4_000_000)}}`)],
  ['800,000 parts of a wrong type', '/run', () => run(`"newMessage":{"parts":${listOf('{"text":1}', 800_000)}}`)],
  ['700,000 unknown keys', '/run', () => keysOf('1', 700_000)],
  ['a delta of 700,000 keys', '/run', () => run(`"stateDelta":${keysOf('1', 700_000)}`)],
  ['3,000,000 empty events', sessionsPath('chat'), () => `{"events":${listOf('{}', 3_000_000)}}`],
  [
    '4,000,000 tool ids of a wrong type',
    sessionsPath('chat'),
    () => `{"events":[${event(`"longRunningToolIds":${listOf('1', 4_000_000)}`)}]}`,
  ],
  [
    '600,000 artifact versions of a wrong type',
    sessionsPath('chat'),
    () => `{"events":[${event(`"actions":{"artifactDelta":${keysOf('"x"', 600_000)}}`)}]}`,
  ],
  [
    '200,000 tool ids of a wrong type',
    sessionsPath('chat'),
    () => `{"events":[${event(`"longRunningToolIds":${listOf('1', 200_000)}`)}]}`,
  ],
  ['a raw state of 700,000 keys', `${sessionsPath('chat')}/swarm`, () => keysOf('1', 700_000)],
  ['a state of lists of 4,900,000 numbers', sessionsPath('chat'), () => `{"state":{"a":${listOf('1', 4_900_000)}}}`],
];

it.each(swarms)('refuses %s quickly and briefly', { timeout: 30_000 }, async (_name, target, bodyOf) => {
  const answer = await server.client.send('POST', target, {
    body: bodyOf(),
    headers: { 'content-type': 'application/json' },
  });

  expect(answer).toBeAnyOf([400, 413]);
  expect(answer.text.length).toBeLessThan(50_000);
});

it('takes an import of 5,000 events and a state of 50,000 keys', async () => {
  const events = Array.from({ length: 5_000 }, (_unused, index) => ({
    id: `event ${index}`,
    invocationId: `e-${index}`,
    author: index % 2 ? 'chat_agent' : 'user',
    timestamp: 1_700_000_000 + index,
    content: { role: index % 2 ? 'model' : 'user', parts: [{ text: 'x'.repeat(300) }] },
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
  }));
  const state = JSON.parse(keysOf('1', 50_000)) as Record<string, unknown>;

  const answer = await server.client.post(sessionsPath('chat', 'importer'), { events, state });

  expect(answer).toHaveStatus(200);
  expect((answer.json as { events: unknown[] }).events).toHaveLength(5_000);
});

it('has kept nothing of it and is well', async () => {
  expect(await readSession(server.client, path)).toMatchObject({ state: {}, events: [] });
  expect(await runEvents(server.client, runBody('chat', id, 'hi'))).toHaveLength(1);
});
