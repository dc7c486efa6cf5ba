import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents, textOf, userMessage, type WireEvent } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const emptyActions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };

it('answers the events of a run as a bare array, without the user event and without nulls', async () => {
  const { id, path } = await newSession(server.client, 'chat');

  const answer = await server.client.post('/run', runBody('chat', id, 'hi'));

  expect(answer).toHaveStatus(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.json).toEqual([
    expect.objectContaining({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      invocationId: expect.stringMatching(/^e-[0-9a-f-]{36}$/) as unknown,
      author: 'chat_agent',
      content: { role: 'model', parts: [{ text: 'Hello!' }] },
      timestamp: expect.any(Number) as unknown,
      actions: emptyActions,
    }),
  ]);
  expect(answer.text).not.toContain(':null');
  const { events } = await readSession(server.client, path);
  expect(events[0]).toMatchObject({ author: 'user', content: userMessage('hi'), actions: emptyActions });
  expect(events[1]).toEqual((answer.json as WireEvent[])[0]);
});

it('answers a call event, its response event and the text', async () => {
  const { id } = await newSession(server.client, 'probe');

  const [call, response, text, ...more] = await runEvents(server.client, runBody('probe', id, 'echo good day'));

  expect(more).toEqual([]);
  const { functionCall } = call!.content!.parts[0]!;
  expect(functionCall).toEqual({
    id: expect.stringMatching(/^adk-/) as unknown,
    name: 'echo',
    args: { text: 'good day' },
  });
  expect(response).toMatchObject({ author: 'probe_agent', content: { role: 'user' } });
  expect(response!.content!.parts).toEqual([
    { functionResponse: { id: functionCall!.id, name: 'echo', response: { text: 'good day' } } },
  ]);
  expect(textOf(text)).toBe('good day');
  expect(new Set([call, response, text].map((event) => event!.invocationId)).size).toBe(1);
});

it('merges the responses of parallel calls into one event, in the order of the calls', async () => {
  const { id } = await newSession(server.client, 'probe');

  const [call, response] = await runEvents(server.client, runBody('probe', id, 'three'));

  const calls = call!.content!.parts.map((part) => part.functionCall!);
  expect(calls.map(({ args }) => args['text'])).toEqual(['a', 'b', 'c']);
  expect(new Set(calls.map((entry) => entry.id)).size).toBe(3);
  expect(response!.content!.parts.map((part) => part.functionResponse!.id)).toEqual(calls.map((entry) => entry.id));
});

it('carries the stateDelta of the request on the user event, before the agent runs', async () => {
  const { id, path } = await newSession(server.client, 'probe', { state: { n: 1 } });

  const events = await runEvents(server.client, runBody('probe', id, 'increment n', { stateDelta: { n: 41 } }));

  expect(textOf(events.at(-1))).toBe('n is 42');
  const session = await readSession(server.client, path);
  expect(session.state).toEqual({ n: 42 });
  expect(session.events[0]!.actions.stateDelta).toEqual({ n: 41 });
});

it.each<[string, (id: string) => unknown]>([
  [
    'snake_case keys',
    (id) => ({
      app_name: 'chat',
      user_id: 'user',
      session_id: id,
      new_message: { role: 'user', parts: [{ text: 'hi' }] },
      state_delta: { a: 1 },
      function_call_event_id: 'none',
    }),
  ],
  [
    'what the official UI sends',
    (id) => runBody('chat', id, 'hi', { streaming: false, stateDelta: null, functionCallEventId: undefined }),
  ],
  [
    'a UI upload beside the text',
    (id) => ({
      ...runBody('chat', id, ''),
      newMessage: {
        role: 'user',
        parts: [{ text: 'hi' }, { inlineData: { displayName: 'a.txt', mimeType: 'text/plain', data: 'aGk=' } }],
      },
    }),
  ],
  ['a message without role', (id) => ({ ...runBody('chat', id, ''), newMessage: { parts: [{ text: 'hi' }] } })],
  ['unknown keys', (id) => runBody('chat', id, 'hi', { futureKey: { a: 1 }, another: [1] })],
  [
    'nulls for everything optional',
    (id) =>
      runBody('chat', id, 'hi', {
        streaming: null,
        invocationId: null,
        customMetadata: null,
        functionCallEventId: null,
      }),
  ],
  ['custom metadata', (id) => runBody('chat', id, 'hi', { customMetadata: { source: 'test' } })],
])('takes a run request with %s', async (_name, body) => {
  const { id, path } = await newSession(server.client, 'chat');

  const answer = await server.client.post('/run', body(id));

  expect(answer).toHaveStatus(200);
  expect(textOf((answer.json as WireEvent[]).at(-1))).toBe('Hello!');
  const { content } = (await readSession(server.client, path)).events[0]!;
  expect(content!.role).toBe('user');
  expect(content!.parts[0]).toEqual({ text: 'hi' });
});

it('keeps the keys of state and arguments as they are, whatever their case', async () => {
  const { id, path } = await newSession(server.client, 'probe', { state: { snake_key: { inner_key: 1 } } });

  await runEvents(
    server.client,
    runBody('probe', id, 'remember some_key value', {
      stateDelta: { other_key: { deep_key: 1 } },
    }),
  );

  expect((await readSession(server.client, path)).state).toEqual({
    snake_key: { inner_key: 1 },
    other_key: { deep_key: 1 },
    some_key: 'value',
  });
});

it('answers a thought as a thought part', async () => {
  const { id } = await newSession(server.client, 'chat');

  const [event] = await runEvents(server.client, runBody('chat', id, 'think'));

  expect(event!.content!.parts).toMatchObject([{ text: 'Let me think.', thought: true }, { text: 'I thought.' }]);
});

it('answers an error the model reports as an event with errorCode and errorMessage', async () => {
  const { id, path } = await newSession(server.client, 'chat');

  const events = await runEvents(server.client, runBody('chat', id, 'boom'));

  expect(events.at(-1)).toMatchObject({
    author: 'chat_agent',
    errorCode: 'RESOURCE_EXHAUSTED',
    errorMessage: 'The quota is used up',
  });
  expect(events.at(-1)).not.toHaveProperty('error');
  expect((await readSession(server.client, path)).events.at(-1)).toMatchObject({ errorCode: 'RESOURCE_EXHAUSTED' });
  expect(textOf((await runEvents(server.client, runBody('chat', id, 'hi'))).at(-1))).toBe('Hello!');
});

it('hands over to a sub-agent and goes on with it in the next turn', async () => {
  const { id } = await newSession(server.client, 'team');

  const first = await runEvents(server.client, runBody('team', id, 'write'));
  const second = await runEvents(server.client, runBody('team', id, 'and again'));

  expect(first.map(({ author }) => author)).toEqual(['team_lead', 'team_lead', 'writer']);
  expect(first[1]!.actions).toMatchObject({ transferToAgent: 'writer' });
  expect(textOf(first[2])).toBe('Written.');
  expect(second.map(({ author }) => author)).toEqual(['writer']);
});

it('runs a pipeline of sequential, parallel and loop agents', async () => {
  const { id } = await newSession(server.client, 'team');

  const events = await runEvents(server.client, runBody('team', id, 'work'));

  const authors = events.map(({ author }) => author).slice(2);
  expect(authors).toEqual(['draft', ...authors.slice(1, 3).toSorted(), 'gloss', 'gloss']);
  expect(authors.slice(1, 3).toSorted()).toEqual(['left', 'right']);
  const branchOf = (name: string): unknown => events.find(({ author }) => author === name);
  expect(branchOf('left')).toMatchObject({ branch: 'review.left' });
  expect(branchOf('right')).toMatchObject({ branch: 'review.right' });
});

it('answers many turns of one session in order', async () => {
  const { id, path } = await newSession(server.client, 'probe');

  for (let turn = 0; turn < 20; turn += 1) await runEvents(server.client, runBody('probe', id, `echo turn ${turn}`));

  const { events } = await readSession(server.client, path);
  expect(events).toHaveLength(80);
  expect(events.filter(({ author }) => author === 'user').map(textOf)).toEqual(
    Array.from({ length: 20 }, (_unused, turn) => `echo turn ${turn}`),
  );
});
