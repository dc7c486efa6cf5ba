import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LiveClient, type LiveFrame, type LivePart, outline } from '../../support/live-client.ts';
import { LiveDouble } from '../../support/live-double.ts';
import { type LiveBed, openLiveBed } from './bed.ts';

const agent = `
  import { functionTool, llmAgent, streamingTool } from 'agent-server';
  import { setTimeout as sleep } from 'node:timers/promises';

  const model = 'gemini-live-2.5-flash-preview';
  const weather = functionTool({
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }, ctx) => { ctx.state.set('city', city); return { report: city + ' is sunny' }; },
  });
  const slow = functionTool({
    name: 'slow',
    description: 'Takes long.',
    run: (_args, ctx) => sleep(60_000, undefined, { signal: ctx.signal }),
  });
  const remove = functionTool({
    name: 'remove', description: 'Removes all.', requireConfirmation: true, run: () => ({ removed: true }),
  });
  const watch = streamingTool({
    name: 'watch',
    description: 'Watches a price.',
    async *run(_args, ctx) {
      yield { price: 1 };
      yield { price: 2 };
      await sleep(60_000, undefined, { signal: ctx.signal });
    },
  });
  const watchers = streamingTool({
    name: 'count_frames',
    description: 'Counts the pictures of the camera.',
    async *run(_args, ctx) {
      let pictures = 0;
      for await (const { kind, blob } of ctx.liveInput ?? []) {
        if (kind === 'blob' && blob.mimeType === 'image/jpeg') yield { pictures: (pictures += 1), data: blob.data };
      }
    },
  });
  const broken = functionTool({ name: 'broken', description: 'Fails.', run: () => { throw new Error('out of order'); } });
  const expert = llmAgent({ name: 'expert', model, description: 'Knows all.', instruction: 'Be wise.' });
  export const rootAgent = llmAgent({
    name: 'voice', model, instruction: 'Speak.', tools: [weather, slow, remove, watch, watchers, broken], subAgents: [expert],
  });
`;

const steps = `
  import { llmAgent, sequentialAgent } from 'agent-server';
  const model = 'gemini-live-2.5-flash-preview';
  const step = (name) => llmAgent({ name, model, instruction: name });
  export const rootAgent = sequentialAgent({ name: 'steps', subAgents: [step('first'), step('second')] });
`;

const double = await LiveDouble.start();
let bed: LiveBed;
beforeAll(async () => {
  bed = await openLiveBed(
    { voice: { 'agent.ts': agent }, steps: { 'agent.ts': steps } },
    { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url },
  );
});
beforeEach(() => double.forget());
afterAll(async () => {
  await bed.close();
  await double.close();
});

async function call(app = 'voice') {
  const key = await bed.session(app);
  const client = await LiveClient.connect(bed.url, key);
  return { key, client, line: await double.connection() };
}

const isDone = ({ turnComplete }: LiveFrame): boolean => turnComplete === true;
const partsOf = (frames: readonly LiveFrame[]): readonly LivePart[] =>
  frames.flatMap(({ content }) => content?.parts ?? []);
const calls = (...functionCalls: object[]): object => ({ toolCall: { functionCalls } });
const hears = (text: string, more: object = {}): object => ({
  serverContent: { inputTranscription: { text, ...more } },
});
const speaks = (text: string): object => ({ serverContent: { outputTranscription: { text } } });
const complete = { serverContent: { turnComplete: true } };

it('runs tools while both talk, and answers under the provider’s id', async () => {
  const { client, key, line } = await call();

  line.send(calls({ id: 'c-1', name: 'slow', args: {} }));
  line.send(calls({ id: 'c-2', name: 'get_weather', args: { city: 'Rome' } }, { id: 'c-3', name: 'broken' }));
  line.speak(Buffer.alloc(4));
  client.socket.send(Buffer.alloc(4));
  const { toolResponse } = await line.message((message) => message.toolResponse !== undefined);
  line.send({ toolCallCancellation: { ids: ['c-1'] } }, speaks('It is sunny.'), complete);
  await client.frame(isDone);
  await client.frame(({ content }) => content?.parts[0]?.functionResponse?.id === 'c-1');
  await client.close();

  expect(toolResponse?.functionResponses).toEqual([
    { id: 'c-2', name: 'get_weather', response: { report: 'Rome is sunny' } },
    { id: 'c-3', name: 'broken', response: { error: 'out of order' } },
  ]);
  expect(line.messages.filter((message) => message.toolResponse)).toHaveLength(1);
  expect(line.sound).toHaveLength(4);
  const stored = await bed.stored(key);
  expect(outline(stored).slice(0, 3)).toEqual([
    'voice: slow({})',
    'voice: get_weather({"city":"Rome"}) + broken({})',
    'voice: get_weather -> {"report":"Rome is sunny"} + broken -> {"error":"out of order"}',
  ]);
  expect(stored[2]?.actions?.stateDelta).toEqual({ city: 'Rome' });
  expect(outline(stored).join()).toContain('slow -> {"error":"The call was cancelled');
});

it('stores question, tools and answer in this order, however they come', async () => {
  const { client, key, line } = await call();

  line.send(hears('Is it sunny '), calls({ id: 'c-1', name: 'get_weather', args: { city: 'Rome' } }));
  await line.message(({ toolResponse }) => toolResponse !== undefined);
  line.send(hears('in Rome?', { finished: true }), speaks('Yes.'), complete);
  await client.frame(isDone);
  await client.close();

  const expected = [
    'user: heard "Is it sunny in Rome?"',
    'voice: get_weather({"city":"Rome"})',
    'voice: get_weather -> {"report":"Rome is sunny"}',
    'voice: spoke "Yes."',
  ];
  expect(outline(await bed.stored(key))).toEqual(expected);
  expect(outline(client.frames.filter(({ partial }) => !partial))).toEqual([...expected, 'voice: turnComplete']);
});

it('asks the user first where a tool wants that, and tells the model what came of it', async () => {
  const { client, line } = await call();

  line.send(calls({ id: 'c-1', name: 'remove' }));
  const asks = ({ content }: LiveFrame): boolean =>
    content?.parts[0]?.functionCall?.name === 'adk_request_confirmation';
  const id = (await client.frame(asks)).content?.parts[0]?.functionCall?.id;
  const waiting = await line.message(({ toolResponse }) => toolResponse !== undefined);
  const answer = { id, name: 'adk_request_confirmation', response: { confirmed: true } };
  client.send({ content: { role: 'user', parts: [{ functionResponse: answer }] } });
  const told = await line.asked('remove');
  await client.close();

  expect(JSON.stringify(waiting.toolResponse)).toContain('waits for the user');
  expect(told.clientContent?.turns?.[0]?.parts).toEqual([{ text: 'The function "remove" returned: {"removed":true}' }]);
  expect(outline(client.frames)).toContain('voice: remove -> {"removed":true}');
});

it('tells the model what a streaming tool finds as it comes, until the model stops it', async () => {
  const { client, line } = await call();

  line.send(calls({ id: 'c-1', name: 'watch' }));
  await line.asked('{\\"price\\":1}');
  await line.asked('{\\"price\\":2}');
  line.send(calls({ id: 'c-2', name: 'stop_streaming', args: { function_name: 'watch' } }));
  await line.message(({ toolResponse }) => toolResponse?.functionResponses[0]?.id === 'c-2');
  line.send(calls({ id: 'c-3', name: 'stop_streaming', args: { function_name: 'watch' } }));
  const again = await line.message(({ toolResponse }) => toolResponse?.functionResponses[0]?.id === 'c-3');
  await client.close();

  expect(JSON.stringify(line.setup)).toContain('"stop_streaming"');
  const [first] = line.messages.filter(({ toolResponse }) => toolResponse);
  expect(first?.toolResponse?.functionResponses[0]).toMatchObject({
    id: 'c-1',
    response: { status: expect.any(String) },
  });
  expect(again.toolResponse?.functionResponses[0]?.response).toEqual({ error: 'The function "watch" is not running' });
  expect(partsOf(client.frames).filter(({ text }) => text?.includes('returned'))).toHaveLength(2);
});

it('lets a streaming tool hear and see what the client sends, which the model gets all the same', async () => {
  const { client, line } = await call();
  const picture = (data: string): void => client.send({ blob: { mime_type: 'image/jpeg', data } });

  line.send(calls({ id: 'c-1', name: 'count_frames' }));
  await line.message(({ toolResponse }) => toolResponse !== undefined);
  picture('AAAA');
  client.send({ blob: { mime_type: 'audio/pcm;rate=16000', data: 'CCCC' } });
  await line.asked('{\\"pictures\\":1,\\"data\\":\\"AAAA\\"}');
  picture('BBBB');
  await line.asked('{\\"pictures\\":2,\\"data\\":\\"BBBB\\"}');
  await client.close();

  const sent = line.messages.flatMap(({ realtimeInput }) => Object.keys(realtimeInput ?? {}));
  expect(sent.toSorted()).toEqual(['audio', 'video', 'video']);
});

it('hangs up when another agent takes over, which goes on with the same client', async () => {
  const { client, key, line } = await call();
  line.send(hears('The expert please', { finished: true }));

  line.send(calls({ id: 'c-1', name: 'transfer_to_agent', args: { agent_name: 'expert' } }));
  const next = await double.connection(1);
  const history = await next.message(({ clientContent }) => clientContent !== undefined);
  expect(await line.closed).toBe(1005);
  client.socket.send(Buffer.from([5, 6]));
  await next.message(({ realtimeInput }) => realtimeInput !== undefined);
  next.send(speaks('I know all.'), complete);
  await client.frame(isDone);
  await client.close();

  expect(JSON.stringify(next.setup.systemInstruction)).toContain('Be wise.');
  expect(history.clientContent?.turnComplete).toBe(true);
  expect(JSON.stringify(history)).toContain('The expert please');
  expect(next.sound).toEqual(Buffer.from([5, 6]));
  expect(outline(await bed.stored(key)).at(-1)).toBe('expert: spoke "I know all."');
});

it('goes through a sequence as its agents say that they are done', async () => {
  const { client, line } = await call('steps');

  line.send(calls({ id: 'c-1', name: 'task_completed' }));
  const next = await double.connection(1);
  next.send(calls({ id: 'c-2', name: 'task_completed' }));

  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(await next.closed).toBe(1005);
  expect(JSON.stringify(line.setup)).toContain('task_completed');
});
