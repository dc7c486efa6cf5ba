import { expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool, type AgentToolSpec } from '../../src/agents/agent-tool.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { sequentialAgent } from '../../src/agents/workflow.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import { ModelError } from '../../src/core/model.ts';
import type { Agent, Plugin } from '../../src/core/runtime.ts';
import { newActions } from '../../src/schemas/event.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { outline } from '../support/history.ts';
import { call, calls, failingModel, parts, replyModel, text } from '../support/reply-model.ts';

/** A root agent whose model calls the agent-tool with these arguments and then says "done". */
function conversationWith(
  spec: AgentToolSpec,
  args: Record<string, unknown> = { request: 'Help!' },
  options: ConstructorParameters<typeof Conversation>[1] = {},
): { conversation: Conversation; model: ReturnType<typeof replyModel> } {
  const model = replyModel(calls(call(spec.agent.name, args)), text('done'));
  return {
    conversation: new Conversation(llmAgent({ name: 'root', model, tools: [agentTool(spec)] }), options),
    model,
  };
}

const answerIn = (events: Awaited<ReturnType<Conversation['send']>>): unknown =>
  events[1]?.content?.parts[0]?.functionResponse?.response;

it('gives the agent a request and the caller its last text, thoughts left out', async () => {
  const inner = replyModel(parts({ text: 'hm', thought: true }, { text: 'It is ' }, { text: 'blue.' }));
  const { conversation, model } = conversationWith({
    agent: llmAgent({ name: 'helper', description: 'Helps.', model: inner }),
  });

  const events = await conversation.send('go');

  expect(summary(events)).toEqual([
    'root: helper({"request":"Help!"})',
    'root: helper -> {"result":"It is blue."}',
    'root: done',
  ]);
  expect(outline(inner.requests[0]!.contents)).toEqual(['user: Help!']);
  expect(model.requests[0]?.config.tools?.[0]?.functionDeclarations).toMatchObject([
    { name: 'helper', description: 'Helps.', parameters: { required: ['request'] } },
  ]);
});

it('starts each call afresh, with the state as it is then', async () => {
  const inner = replyModel();
  const agent = llmAgent({ name: 'helper', model: inner, instruction: 'Colour: {colour}, {temp:secret?}' });
  const model = replyModel(calls(call('helper', { request: 'one' })), calls(call('helper', { request: 'two' })));
  const conversation = new Conversation(llmAgent({ name: 'root', model, tools: [agentTool({ agent })] }), {
    state: { colour: 'blue' },
  });

  await conversation.send('go');

  expect(inner.requests.map(({ contents }) => outline(contents))).toEqual([['user: one'], ['user: two']]);
  expect(inner.requests[0]?.config.systemInstruction).toBe('Colour: blue, ');
});

it('passes on the state that the agent changes, and its artifacts', async () => {
  const agent: Agent = {
    name: 'helper',
    async *run(ctx) {
      await ctx.services.artifacts?.saveArtifact(
        { appName: ctx.session.appName, userId: ctx.session.userId, sessionId: ctx.session.id },
        'note',
        { text: 'kept' },
      );
      yield newEvent(ctx, 'helper', {
        actions: { ...newActions(), stateDelta: { a: 1, 'temp:b': 2 }, artifactDelta: { note: 0 } },
      });
      yield newEvent(ctx, 'helper', { actions: { ...newActions(), stateDelta: { old: null, 'user:c': 3 } } });
    },
  };
  const { conversation } = conversationWith({ agent }, undefined, { state: { old: true } });

  const events = await conversation.send('go');

  expect(answerIn(events)).toEqual({});
  expect(events[1]?.actions).toMatchObject({
    stateDelta: { a: 1, old: null, 'user:c': 3 },
    artifactDelta: { note: 0 },
  });
  expect(conversation.session?.state).toEqual({ a: 1, 'user:c': 3 });
  expect(conversation.session?.events).toHaveLength(4);
});

it('checks arguments against the input schema and gives them as JSON', async () => {
  const inner = replyModel(text('ok'));
  const agent = llmAgent({ name: 'helper', model: inner, inputSchema: z.object({ city: z.string() }) });

  const good = await conversationWith({ agent }, { city: 'Rome' }).conversation.send('go');
  const bad = await conversationWith({ agent }, { city: 7 }).conversation.send('go');

  expect(outline(inner.requests[0]!.contents)).toEqual(['user: {"city":"Rome"}']);
  expect(answerIn(good)).toEqual({ result: 'ok' });
  expect(answerIn(bad)).toEqual({ error: expect.stringContaining('city') });
  expect(inner.requests).toHaveLength(1);
});

it('gives the answer as data when the agent has an output schema, and an error when it does not fit', async () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const agent = llmAgent({
    name: 'helper',
    model: replyModel(text('{"n": 4}'), text('{"n": "x"}'), text('four')),
    outputSchema,
  });

  expect(answerIn(await conversationWith({ agent }).conversation.send('go'))).toEqual({ n: 4 });
  expect(answerIn(await conversationWith({ agent }).conversation.send('go'))).toEqual({
    error: expect.stringContaining('n:'),
  });
  expect(answerIn(await conversationWith({ agent }).conversation.send('go'))).toEqual({
    error: expect.stringContaining('not JSON'),
  });
});

it('takes the input of the first and the output of the last agent of a sequence', () => {
  const first = llmAgent({ name: 'first', inputSchema: z.object({ a: z.string() }) });
  const last = llmAgent({ name: 'last', outputSchema: z.object({ b: z.string() }) });
  const tool = agentTool({ agent: sequentialAgent({ name: 'both', subAgents: [first, last] }) });

  expect(tool.declaration?.parameters).toMatchObject({ properties: { a: { type: 'string' } } });
});

it('can make the answer of the agent the last word', async () => {
  const { conversation, model } = conversationWith({
    agent: llmAgent({ name: 'helper', model: replyModel(text('final')) }),
    skipSummarization: true,
  });

  expect(summary(await conversation.send('go')).at(-1)).toBe('root: helper -> {"result":"final"}');
  expect(model.requests).toHaveLength(1);
});

it.each([
  [undefined, ['root', 'helper', 'root']],
  [false, ['root', 'root']],
])('with includePlugins %s plugins see the model calls of %o', async (includePlugins, expected) => {
  const seen: string[] = [];
  const plugin: Plugin = {
    name: 'p',
    beforeModel: ({ context }) => void seen.push(context.agentName),
  };
  const agent = llmAgent({ name: 'helper', model: replyModel(text('ok')) });
  const { conversation } = conversationWith(
    { agent, ...(includePlugins !== undefined && { includePlugins }) },
    undefined,
    { plugins: [plugin] },
  );

  await conversation.send('go');

  expect(seen).toEqual(expected);
});

it('answers with the failure of the agent', async () => {
  const agent = llmAgent({ name: 'helper', model: failingModel(new ModelError('RATE_LIMITED', 'too much')) });

  expect(answerIn(await conversationWith({ agent }).conversation.send('go'))).toEqual({ error: 'too much' });
});

it('says so when the agent would have to ask the user', async () => {
  const risky = functionTool({ name: 'pay', description: 'Pays.', requireConfirmation: true, run: () => 'paid' });
  const agent = llmAgent({ name: 'helper', model: replyModel(calls(call('pay'))), tools: [risky] });

  expect(answerIn(await conversationWith({ agent }).conversation.send('go'))).toEqual({
    error: expect.stringContaining('has to ask the user'),
  });
});

it('stops the agent when the run is cancelled', async () => {
  let stopped = false;
  const cancel = new AbortController();
  const agent: Agent = {
    name: 'helper',
    async *run(ctx) {
      setImmediate(() => cancel.abort(new Error('cancelled')));
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))));
      yield newEvent(ctx, 'helper');
    },
  };
  const watched: Agent = {
    ...agent,
    async *run(ctx) {
      try {
        yield* agent.run(ctx);
      } finally {
        stopped = true;
      }
    },
  };

  await expect(conversationWith({ agent: watched }).conversation.send('go', { signal: cancel.signal })).rejects.toThrow(
    'cancelled',
  );

  expect(stopped).toBe(true);
});
