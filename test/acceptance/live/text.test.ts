import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveClient, outline } from '../../support/live-client.ts';
import { type LiveBed, openLiveBed } from './bed.ts';

const chat = {
  name: 'chat',
  model: 'scripted',
  instruction: 'Chat.',
  script: [
    { match: 'count', chunks: ['one, ', 'two'] },
    { match: 'boom', error: { code: 'RESOURCE_EXHAUSTED', message: 'quota' } },
    { match: 'crash', error: { code: 'UNAVAILABLE', message: 'x'.repeat(300), throw: true } },
    { match: 'slow', text: 'too late', delayMs: 60_000 },
    { text: 'Hi!' },
  ],
};

const tools = `
  import { functionTool, llmAgent } from 'agent-server';
  const weather = functionTool({
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }) => ({ report: city + ' is sunny' }),
  });
  const remove = functionTool({
    name: 'remove', description: 'Removes all.', requireConfirmation: true, run: () => ({ removed: true }),
  });
  const expert = llmAgent({
    name: 'expert', description: 'Knows all.', script: [{ text: 'The expert says 42.' }],
  });
  export const rootAgent = llmAgent({
    name: 'root',
    tools: [weather, remove],
    subAgents: [expert],
    script: [
      { match: 'weather in (\\\\w+)', calls: [{ name: 'get_weather', args: { city: '$1' } }] },
      { after: 'get_weather', text: '\${get_weather.report}.' },
      { match: 'remove', calls: [{ name: 'remove', id: 'r-1' }] },
      { after: 'remove', text: 'Removed: \${remove.removed}' },
      { match: 'expert', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'expert' } }] },
      { text: 'Hm?' },
    ],
  });
`;

const steps = `
  import { llmAgent, sequentialAgent } from 'agent-server';
  const done = [{ name: 'task_completed' }];
  const step = (name, match) => llmAgent({
    name,
    script: [{ after: 'task_completed', text: 'unheard' }, { match, calls: done }, { text: name + ' listens' }],
  });
  export const rootAgent = sequentialAgent({ name: 'steps', subAgents: [step('first', 'next'), step('second', 'enough')] });
`;

const parallel = `
  import { llmAgent, parallelAgent } from 'agent-server';
  export const rootAgent = parallelAgent({ name: 'both', subAgents: [llmAgent({ name: 'a', script: [{ text: 'a' }] })] });
`;

let bed: LiveBed;
beforeAll(async () => {
  bed = await openLiveBed({
    chat: { 'root_agent.yaml': chat },
    tools: { 'agent.ts': tools },
    steps: { 'agent.ts': steps },
    parallel: { 'agent.ts': parallel },
  });
});
afterAll(() => bed.close());

it('holds a conversation with a model that knows only turns, its text in fragments', async () => {
  const key = await bed.session('chat');
  const client = await LiveClient.connect(bed.url, key);

  const hello = await client.ask('hello');
  const counted = await client.ask('count');
  client.send({ close: true });

  expect(outline(hello)).toEqual(['chat: Hi!', 'chat: turnComplete']);
  expect(outline(counted)).toEqual([
    'chat: one,  + partial',
    'chat: two + partial',
    'chat: one, two',
    'chat: turnComplete',
  ]);
  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(outline(await bed.stored(key))).toEqual(['user: hello', 'chat: Hi!', 'user: count', 'chat: one, two']);
});

it('answers messages in the order they came, and those that came before the end', async () => {
  const client = await LiveClient.connect(bed.url, await bed.session('chat'));

  client.say('count');
  client.say('hello');
  client.send({ close: true });
  await client.closed;

  expect(outline(client.frames.filter(({ partial }) => !partial))).toEqual([
    'chat: one, two',
    'chat: turnComplete',
    'chat: Hi!',
    'chat: turnComplete',
  ]);
});

it('goes on after an answer that is an error, and ends with 1011 when the model fails', async () => {
  const client = await LiveClient.connect(bed.url, await bed.session('chat'));

  const failed = await client.ask('boom');
  const after = await client.ask('hello');
  client.say('crash');
  const { code, reason } = await client.closed;

  expect(outline(failed)).toEqual(
    ['chat:  + error RESOURCE_EXHAUSTED', 'chat: turnComplete'].map((line) => line.replace(':  +', ':')),
  );
  expect(outline(after)).toEqual(['chat: Hi!', 'chat: turnComplete']);
  expect(client.frames.at(-1)?.errorCode).toBe('UNAVAILABLE');
  expect(code).toBe(1011);
  expect(Buffer.byteLength(reason)).toBe(123);
});

it('says once that a model takes no sound, and goes on', async () => {
  const client = await LiveClient.connect(bed.url, await bed.session('chat'));

  for (let count = 0; count < 3; count += 1) client.socket.send(Buffer.alloc(8));
  const hello = await client.ask('hello');

  expect(outline(hello)).toEqual(['chat: error not_supported', 'chat: Hi!', 'chat: turnComplete']);
});

it('calls tools, asks the user, and goes on with the verdict', async () => {
  const key = await bed.session('tools');
  const client = await LiveClient.connect(bed.url, key);

  const weather = await client.ask('weather in Rome');
  const asked = await client.ask('remove all');
  const request = asked
    .flatMap(({ content }) => content?.parts ?? [])
    .find(({ functionCall }) => functionCall?.name === 'adk_request_confirmation');
  const since = client.frames.length;
  client.send({
    content: {
      parts: [
        {
          functionResponse: {
            id: request?.functionCall?.id,
            name: 'adk_request_confirmation',
            response: { confirmed: true },
          },
        },
      ],
    },
  });
  await client.frame(({ turnComplete }) => turnComplete === true, since);

  expect(outline(weather)).toEqual([
    'root: get_weather({"city":"Rome"})',
    'root: get_weather -> {"report":"Rome is sunny"}',
    'root: Rome is sunny.',
    'root: turnComplete',
  ]);
  expect(outline(client.frames.slice(since))).toEqual([
    'root: remove -> {"removed":true}',
    'root: Removed: true',
    'root: turnComplete',
  ]);
  await client.close();
});

it('lets another agent take over, for the messages that follow, too', async () => {
  const key = await bed.session('tools');
  const client = await LiveClient.connect(bed.url, key);

  const asked = await client.ask('ask the expert');
  const again = await client.ask('and again?');
  await client.close();
  const later = await LiveClient.connect(bed.url, key);

  expect(outline(asked).slice(2)).toEqual(['expert: The expert says 42.', 'expert: turnComplete']);
  expect(outline(again)).toEqual(['expert: The expert says 42.', 'expert: turnComplete']);
  expect(outline(await later.ask('still there?'))[0]).toBe('expert: The expert says 42.');
  await later.close();
});

it('talks with the agents of a sequence one after another, until the last says it is done', async () => {
  const client = await LiveClient.connect(bed.url, await bed.session('steps'));

  expect(outline(await client.ask('hello'))).toEqual(['first: first listens', 'first: turnComplete']);
  client.say('next');
  await client.frame(({ author, turnComplete }) => author === 'second' && turnComplete === true);
  client.say('enough');

  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(outline(client.frames).slice(2)).toEqual([
    'first: task_completed({})',
    'first: task_completed -> {"result":"The task is done."}',
    'second: second listens',
    'second: turnComplete',
    'second: task_completed({})',
    'second: task_completed -> {"result":"The task is done."}',
  ]);
});

it.each([
  ['parallel', 1011, 'Agent "both" (parallel) does not support live connections'],
  ['nothing', 1008, 'App not found: nothing'],
])('closes a connection to the app "%s" with %d', async (app, code, reason) => {
  const key = app === 'nothing' ? { appName: app, userId: 'u', sessionId: 's' } : await bed.session(app);
  const client = await LiveClient.connect(bed.url, key);

  expect(await client.closed).toEqual({ code, reason });
});

it('closes a connection to an unknown session with 1002', async () => {
  const client = await LiveClient.connect(bed.url, { appName: 'chat', userId: 'u', sessionId: 'nope' });

  expect(await client.closed).toEqual({ code: 1002, reason: 'Session not found: nope' });
});

it('lets one run at a time into a session', async () => {
  const key = await bed.session('chat');
  const first = await LiveClient.connect(bed.url, key);
  await first.ask('hello');

  const second = await LiveClient.connect(bed.url, key, { query: '&on_busy=reject' });
  expect((await second.closed).code).toBe(1013);
  const third = await LiveClient.connect(bed.url, key);
  third.say('count');
  const fourth = await LiveClient.connect(bed.url, key, { query: '&on_busy=interrupt' });

  expect((await first.closed).code).toBe(1001);
  expect(outline(await fourth.ask('hello'))[0]).toBe('chat: Hi!');
  await fourth.close();
  await third.frame(({ turnComplete }) => turnComplete === true);
  await third.close();
});

it('cancels an answer whose client leaves, and leaves nothing running', async () => {
  const key = await bed.session('chat');
  const client = await LiveClient.connect(bed.url, key);
  client.say('slow');
  client.socket.ping();
  await new Promise((resolve) => client.socket.once('pong', resolve));

  await client.close();
  const next = await LiveClient.connect(bed.url, key);

  expect(outline(await next.ask('hello'))).toEqual(['chat: Hi!', 'chat: turnComplete']);
  expect(outline(await bed.stored(key))).toEqual([
    'user: slow',
    'chat: error run_cancelled',
    'user: hello',
    'chat: Hi!',
  ]);
  await next.close();
});
