import { expect, it } from 'vitest';
import { z } from 'zod';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { call, calls, partial, replyModel, text } from '../support/reply-model.ts';

const weather = functionTool({
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ report: `sunny in ${city}` }),
});

it('answers with the text of the model', async () => {
  const model = replyModel(text('Hello!'));

  const events = await new Conversation(llmAgent({ name: 'greeter', model, instruction: 'Be brief.' })).send('Hi');

  expect(summary(events)).toEqual(['greeter: Hello!']);
  expect(model.requests[0]).toMatchObject({
    model: 'reply-model',
    stream: false,
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    config: { systemInstruction: 'Be brief.', labels: { adk_agent_name: 'greeter' } },
  });
});

it('runs the tools a model calls and asks again with their answers', async () => {
  const model = replyModel(calls(call('get_weather', { city: 'Rome' })), text('It is sunny.'));

  const events = await new Conversation(llmAgent({ name: 'guide', model, tools: [weather] })).send('Weather?');

  expect(summary(events)).toEqual([
    'guide: get_weather({"city":"Rome"})',
    'guide: get_weather -> {"report":"sunny in Rome"}',
    'guide: It is sunny.',
  ]);
  const id = events[0]?.content?.parts[0]?.functionCall?.id;
  expect(id).toMatch(/^adk-/);
  expect(events[1]?.content).toEqual({
    role: 'user',
    parts: [{ functionResponse: { id, name: 'get_weather', response: { report: 'sunny in Rome' } } }],
  });
  expect(model.requests[1]?.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
  expect(model.requests[0]?.config.tools).toEqual([{ functionDeclarations: [weather.declaration] }]);
});

it('streams fragments before the whole answer and stores the whole only', async () => {
  const model = replyModel([partial('Hel'), partial('lo'), text('Hello')]);
  const conversation = new Conversation(llmAgent({ name: 'greeter', model }));

  const events = await conversation.send('Hi', { runConfig: { streamingMode: 'sse' } });

  expect(summary(events)).toEqual(['greeter: Hel + partial', 'greeter: lo + partial', 'greeter: Hello']);
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  expect(summary(conversation.session!.events)).toEqual(['user: Hi', 'greeter: Hello']);
  expect(model.requests[0]?.stream).toBe(true);
});
