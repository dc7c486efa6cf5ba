import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, sessionsPath } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';

let server: ProbeServer;
let path = '';
let id = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ path, id } = await newSession(server.client, 'chat'));
});
afterAll(() => server.stop());

const values = {
  number: 7,
  true: true,
  text: 'abc',
  list: ['a'],
  'empty list': [],
  object: { toString: 1 },
  'empty object': {},
} as const;
const but = (...allowed: (keyof typeof values)[]): [string, unknown][] =>
  Object.entries(values).filter(([name]) => !allowed.includes(name as keyof typeof values));

const idFields = ['appName', 'userId', 'sessionId'].flatMap((field) =>
  but('text').map(([name, value]) => [field, name, value] as const),
);
const otherFields = [
  ...but().map(([name, value]) => ['newMessage', name, value] as const),
  ...but('true').map(([name, value]) => ['streaming', name, value] as const),
  ...but('object', 'empty object').map(([name, value]) => ['stateDelta', name, value] as const),
  ...but('object', 'empty object').map(([name, value]) => ['customMetadata', name, value] as const),
  ...but('text').map(([name, value]) => ['functionCallEventId', name, value] as const),
  ...but('text').map(([name, value]) => ['invocationId', name, value] as const),
  ...but().map(([name, value]) => ['onBusy', name, value] as const),
  ...but().map(([name, value]) => ['onDisconnect', name, value] as const),
];

it.each([...idFields, ...otherFields])('refuses a run whose %s is of the type %s', async (field, _name, value) => {
  const body = { ...runBody('chat', id, 'hi'), [field]: value };

  for (const route of ['/run', '/run_sse']) {
    const answer = await server.client.post(route, body);
    // An empty object has no toString to trip over, and a message may come without role: it still has no parts.
    expect(answer).toBeProblem(400, 'invalid_request');
    expect(answer.json).toMatchObject({ detail: expect.stringContaining(field) as unknown });
  }
});

it.each<[string, unknown]>([
  ['a text as parts', { role: 'user', parts: 'hi' }],
  ['an object as parts', { role: 'user', parts: { text: 'hi' } }],
  ['null as parts', { role: 'user', parts: null }],
  ['no parts', { role: 'user' }],
  ['an empty list of parts', { role: 'user', parts: [] }],
  ['an empty part', { role: 'user', parts: [{}] }],
  ['null as a part', { role: 'user', parts: [null] }],
  ['a text as a part', { role: 'user', parts: ['hi'] }],
  ['a number as a part', { role: 'user', parts: [1] }],
  ['a list as a part', { role: 'user', parts: [[{ text: 'hi' }]] }],
  ['a number as text', { role: 'user', parts: [{ text: 7 }] }],
  ['an object as text', { role: 'user', parts: [{ text: { toString: 1 } }] }],
  ['a number as role', { role: 7, parts: [{ text: 'hi' }] }],
  ['a text as inline data', { role: 'user', parts: [{ inlineData: 'aGk=' }] }],
  ['inline data without type', { role: 'user', parts: [{ inlineData: { data: 'aGk=' } }] }],
  ['inline data without data', { role: 'user', parts: [{ inlineData: { mimeType: 'a/b' } }] }],
  ['inline data that is no base64', { role: 'user', parts: [{ inlineData: { mimeType: 'a/b', data: '*!*' } }] }],
  ['file data without URI', { role: 'user', parts: [{ fileData: {} }] }],
  ['a function response without name', { role: 'user', parts: [{ functionResponse: { response: {} } }] }],
  ['a function response that is a text', { role: 'user', parts: [{ functionResponse: { name: 'x', response: 'y' } }] }],
  ['a function call without name', { role: 'user', parts: [{ functionCall: { args: {} } }] }],
])('refuses a message with %s', async (_name, newMessage) => {
  const answer = await server.client.post('/run', { ...runBody('chat', id, 'hi'), newMessage });

  expect(answer).toBeProblem(400);
});

it.each(['adk_request_confirmation', 'adk_request_credential', 'adk_request_input'])(
  'refuses a message in which the user calls the reserved function %s',
  async (name) => {
    const answer = await server.client.post('/run', {
      ...runBody('chat', id, 'hi'),
      newMessage: { role: 'user', parts: [{ functionCall: { id: 'x', name, args: {} } }] },
    });

    expect(answer).toBeProblem(400);
  },
);

it('refuses the answer to a call that nobody made, or hands it to the agent', async () => {
  const { id: other } = await newSession(server.client, 'probe');
  const answer = await server.client.post('/run', {
    ...runBody('probe', other, 'hi'),
    newMessage: {
      role: 'user',
      parts: [{ functionResponse: { id: 'adk-none', name: 'echo', response: { text: 'x' } } }],
    },
  });

  expect(answer).toBeAnyOf([200, 400]);
});

it.each(but('object', 'empty object').map(([name, value]) => [name, value] as const))(
  'refuses a creation whose state is of the type %s',
  async (_name, state) => {
    expect(await server.client.post(sessionsPath('chat', 'typed'), { state })).toBeProblem(400);
  },
);

it.each(but('list', 'empty list').map(([name, value]) => [name, value] as const))(
  'refuses a creation whose events are of the type %s',
  async (_name, events) => {
    expect(await server.client.post(sessionsPath('chat', 'typed'), { events })).toBeProblem(400);
  },
);

it.each(but('text').map(([name, value]) => [name, value] as const))(
  'refuses a creation whose session id is of the type %s',
  async (_name, sessionId) => {
    expect(await server.client.post(sessionsPath('chat', 'typed'), { sessionId })).toBeProblem(400);
  },
);

it.each([
  '/apps/chat/app-info?x=1&x=2',
  '/list-apps?detailed=maybe',
  '/list-apps?detailed=true&detailed=false',
  '/dev/apps/chat/build_graph_image?dark_mode=maybe',
  '/dev/apps/chat/build_graph_image?dark_mode=true&dark_mode=true',
])('answers GET %s with 200 or a problem, never with a fault of its own', async (target) => {
  const answer = await server.client.get(target);

  expect(answer).toBeAnyOf([200, 400]);
});

it('has stored nothing of what it refused', async () => {
  expect(await readSession(server.client, path)).toMatchObject({ state: {}, events: [] });
  expect((await server.client.get(sessionsPath('chat', 'typed'))).json).toEqual([]);
});
