import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { checkedResponse } from '../../../src/agents/model-calls/model-response-check.ts';
import type { Model, ModelResponse } from '../../../src/core/model.ts';
import { Conversation } from '../../support/fake-run.ts';
import { parts, partial, replyModel, text } from '../../support/reply-model.ts';

/** A model that yields whatever it is given, a response or not. */
const yielding = (...given: readonly unknown[]): Model => ({
  name: 'odd',
  async *generate() {
    for (const one of given) yield one as ModelResponse;
  },
});
const talk = (model: Model): Conversation => new Conversation(llmAgent({ name: 'a', model }));

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
};
const circle: Record<string, unknown> = {};
circle['self'] = circle;
/** Twice as much at each level, all of it shared. */
const doubling = Array.from({ length: 60 }).reduce<unknown>((value) => ({ left: value, right: value }), 'x');
const callWith = (args: unknown): unknown => parts({ functionCall: { name: 'f', args: { args } } });
const throwing = Object.defineProperty({}, 'content', {
  enumerable: true,
  get() {
    throw new Error('not now');
  },
});

it.each<[string, unknown]>([
  ['null', null],
  ['a text', 'hello'],
  ['a list', []],
  ['a content that is text', { content: 'x' }],
  ['parts that are text', { content: { role: 'model', parts: 'x' } }],
  ['a part that is null', { content: { role: 'model', parts: [null] } }],
  ['a part whose text is a number', { content: { role: 'model', parts: [{ text: 5 }] } }],
  ['an error message that is a number', { errorCode: 'X', errorMessage: 5 }],
  ['arguments nested 5,000 deep', callWith(deep(5_000))],
  ['a bigint', callWith(1n)],
  ['a circle', callWith(circle)],
  ['a function', callWith(() => 1)],
  ['an object with a JSON form of its own', callWith({ toJSON: () => 'x' })],
  ['values shared so often that their JSON has no end', callWith(doubling)],
  ['a property that throws', throwing],
])('fails with one error of the model when it answers with %s', async (_what, given) => {
  const conversation = talk(yielding(given));

  await expect(conversation.send('go')).rejects.toMatchObject({ code: 'model_failed' });

  const [asked, told, ...rest] = conversation.session?.events ?? [];
  expect([asked?.author, told?.errorCode, told?.content, rest]).toEqual(['user', 'MODEL_ERROR', undefined, []]);
});

it.each<[string, readonly unknown[]]>([
  ['nothing at all', []],
  ['an empty response', [{}]],
  ['usage alone', [{ usageMetadata: { promptTokenCount: 3 } }]],
  ['a content that is null', [{ content: null }]],
  ['parts that are null', [{ content: { role: 'model', parts: null } }]],
  ['no part', [parts()]],
  ['blanks', [text(' \n')]],
  ['thoughts and then its end', [parts({ text: 'hm', thought: true })]],
])('says so in an event when the model answers with %s', async (_what, given) => {
  const events = await talk(yielding(...given)).send('go');

  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ author: 'a', errorCode: 'MODEL_RETURNED_NO_CONTENT' });
  expect(events[0]?.errorMessage).toMatch(/no content|blanks only/);
});

it('says so, too, when fragments have no whole answer after them', async () => {
  const events = await talk(yielding(partial('Hel'))).send('go');

  expect(events.map(({ errorCode }) => errorCode)).toEqual([undefined, 'MODEL_RETURNED_NO_CONTENT']);
});

it('lets an after-model callback answer where the model is silent', async () => {
  const model = yielding({});
  const agent = llmAgent({
    name: 'a',
    model,
    afterModel: ({ response }) => (response.errorCode === 'MODEL_RETURNED_NO_CONTENT' ? text('Sorry.') : undefined),
  });

  const events = await new Conversation(agent).send('go');

  expect(events).toMatchObject([{ content: { parts: [{ text: 'Sorry.' }] } }]);
  expect(events[0]).not.toHaveProperty('errorCode');
});

it('takes a null for absent, and leaves good answers as they are', async () => {
  const good = parts({ functionCall: { name: 'f', args: { deep: deep(150) } } });

  expect(checkedResponse(good)).toBe(good);
  expect(await checkedResponse({ ...text('x'), errorCode: null, groundingMetadata: null })).toEqual(text('x'));
});

it('does not mark what a model adds after its answer', async () => {
  const events = await talk(yielding(text('Hello'), { usageMetadata: { promptTokenCount: 3 } })).send('go');

  expect(events.map(({ errorCode }) => errorCode)).toEqual([undefined]);
});

it('refuses what a before-model callback answers in the place of the model, if it cannot be read', async () => {
  const model = replyModel(text('never'));
  const agent = llmAgent({ name: 'a', model, beforeModel: () => ({ content: 'x' }) as never });

  await expect(new Conversation(agent).send('go')).rejects.toMatchObject({ code: 'model_failed' });
});
