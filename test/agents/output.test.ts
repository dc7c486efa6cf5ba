import { expect, it } from 'vitest';
import { z } from 'zod';
import type { LlmAgentSpec } from '../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { Model } from '../../src/core/model.ts';
import type { Tool } from '../../src/core/runtime.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { call, calls, parts, type ReplyModel, replyModel, text } from '../support/reply-model.ts';

const tick: Tool = {
  kind: 'tool',
  name: 'tick',
  description: 'x',
  declaration: { name: 'tick', description: 'x' },
  run: () => 'tock',
};
const later: Tool = { ...tick, name: 'later', isLongRunning: true, run: () => undefined };
const outputSchema = z.object({ n: z.number() });

async function stateAfter(spec: Partial<LlmAgentSpec>): Promise<Record<string, unknown> | undefined> {
  const conversation = new Conversation(llmAgent({ name: 'a', outputKey: 'out', ...spec }));
  await conversation.send('go');
  return conversation.session?.state;
}

it.each([
  ['text', [text('hello')], 'hello'],
  ['text without thoughts', [parts({ text: 'hm', thought: true }, { text: 'hel' }, { text: 'lo' })], 'hello'],
  ['the last answer', [parts({ text: 'wait' }, call('tick')), text('done')], 'done'],
  ['nothing when there is no text', [parts({ text: 'hm', thought: true })], undefined],
  ['nothing of an answer that comes later', [calls(call('later'))], undefined],
])('keeps %s under the output key', async (_, replies, expected) => {
  const state = await stateAfter({ model: replyModel(...replies), tools: [tick, later] });

  expect(state).toEqual(expected === undefined ? {} : { out: expected });
});

it('stores the output with the answer it came from, and leaves the key alone when a sub-agent answers', async () => {
  const model = replyModel(calls(call('transfer_to_agent', { agent_name: 'b' })), text('by b'));
  const root = llmAgent({
    name: 'a',
    model,
    outputKey: 'out',
    subAgents: [llmAgent({ name: 'b', outputKey: 'b_out' })],
  });

  expect(summary(await new Conversation(root).send('go')).at(-1)).toBe('b: by b + state {"b_out":"by b"}');
});

it.each([
  ['{"n": 4}', { n: 4 }],
  ['```json\n{"n": 4}\n```', { n: 4 }],
  ['{"n": "four"}', '{"n": "four"}'],
  ['four', 'four'],
])('keeps %s under the output key as %o when there is a schema', async (answer, expected) => {
  expect(await stateAfter({ model: replyModel(text(answer)), outputSchema })).toEqual({ out: expected });
});

it('asks for the schema beside the tools where the model can have both', async () => {
  const model = replyModel(text('{"n":1}'));

  await stateAfter({ model, outputSchema, tools: [tick] });

  expect(model.requests[0]?.config).toMatchObject({
    responseMimeType: 'application/json',
    responseSchema: { type: 'object', properties: { n: { type: 'number' } } },
  });
  expect(model.requests[0]?.config.tools?.[0]?.functionDeclarations?.map(({ name }) => name)).toEqual(['tick']);
});

const older = (model: ReplyModel): Model => ({ ...model, name: 'gemini-2.5-flash' });
const namesIn = (model: ReplyModel): string[] | undefined =>
  model.requests[0]?.config.tools?.[0]?.functionDeclarations?.map(({ name }) => name);

it('lets an older Gemini without tools answer in the schema directly', async () => {
  const model = replyModel(text('{"n":1}'));

  expect(await stateAfter({ model: older(model), outputSchema })).toEqual({ out: { n: 1 } });
  expect(model.requests[0]?.config.responseSchema).toBeDefined();
  expect(namesIn(model)).toBeUndefined();
});

it('has an older Gemini with tools give its answer through a tool, and shows it as text', async () => {
  const model = replyModel(calls(call('tick'), call('set_model_response', { n: 1 })), text('never'));
  const conversation = new Conversation(
    llmAgent({ name: 'a', model: older(model), outputSchema, tools: [tick], outputKey: 'out' }),
  );

  const events = await conversation.send('go');

  expect(summary(events)).toEqual([
    'a: tick({}) + set_model_response({"n":1})',
    'a: tick -> {"result":"tock"} + set_model_response -> {"n":1}',
    'a: {"n":1} + state {"out":{"n":1}}',
  ]);
  expect(events[2]?.content?.role).toBe('model');
  expect(namesIn(model)).toEqual(['tick', 'set_model_response']);
  expect(model.requests[0]?.config.responseSchema).toBeUndefined();
  expect(model.requests[0]?.config.systemInstruction).toContain('set_model_response');
  expect(model.requests).toHaveLength(1);
});

it('tells the model what is wrong with an answer that does not fit', async () => {
  const model = replyModel(calls(call('set_model_response', { n: 'x' })), calls(call('set_model_response', { n: 2 })));

  const events = await new Conversation(llmAgent({ name: 'a', model: older(model), outputSchema, tools: [tick] })).send(
    'go',
  );

  expect(events[1]?.content?.parts[0]?.functionResponse?.response['error']).toContain('n:');
  expect(summary(events).at(-1)).toBe('a: {"n":2}');
});

it('wraps an answer that is no object in one', async () => {
  const model = replyModel(calls(call('set_model_response', { result: ['a', 'b'] })));
  const list = { type: 'array', items: { type: 'string' } };

  expect(await stateAfter({ model: older(model), outputSchema: list, tools: [tick] })).toEqual({ out: ['a', 'b'] });
  expect(model.requests[0]?.config.tools?.[0]?.functionDeclarations?.[1]?.parameters).toEqual({
    type: 'object',
    properties: { result: list },
    required: ['result'],
  });
});
