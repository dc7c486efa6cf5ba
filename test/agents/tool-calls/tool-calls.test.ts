import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { Tool } from '../../../src/core/runtime.ts';
import type { RunConfig } from '../../../src/schemas/run.ts';
import { Conversation, lateText, summary } from '../../support/fake-run.ts';
import { call, calls, replyModel, text } from '../../support/reply-model.ts';
import { answerOf, scene, tool } from '../../support/tool-scene.ts';

it.each([
  [{ a: 1 }, { a: 1 }],
  [[1, 2], { result: [1, 2] }],
  ['text', { result: 'text' }],
  [7n, { result: '7' }],
  [undefined, { result: null }],
  [null, { result: null }],
  [{ at: new Date(0), f: () => 1 }, { at: '1970-01-01T00:00:00.000Z' }],
])('turns the result %o into the response %o', async (result, response) => {
  expect(answerOf((await scene([tool('t', () => result)])).events)).toEqual(response);
});

it('answers with the message of what a tool throws, without secrets', async () => {
  const broken = tool('t', () => {
    throw new Error('refused: api_key=abcdef123456');
  });

  const { events } = await scene([broken]);

  expect(answerOf(events)).toEqual({ error: 'refused: api_key=[redacted]' });
  expect(summary(events).at(-1)).toBe('a: done');
});

it('answers a call of an unknown tool with the tools there are', async () => {
  const { events } = await scene([tool('add', () => 1)], {}, { made: [call('subtract')] });

  expect(answerOf(events)).toEqual({ error: 'There is no tool "subtract". The tools you can call are: add.' });
});

it('keeps ids that the model gave and makes up those that are missing or empty', async () => {
  const { events } = await scene(
    [tool('t', () => 1)],
    {},
    { made: [call('t', {}, 'x1'), call('t', {}, ''), call('t')] },
  );

  const ids = events[0]!.content!.parts.map(({ functionCall }) => functionCall?.id);
  expect(ids).toEqual(['x1', expect.stringMatching(/^adk-/), expect.stringMatching(/^adk-/)]);
  expect(events[1]!.content!.parts.map(({ functionResponse }) => functionResponse?.id)).toEqual(ids);
});

it('runs calls side by side and answers in call order', async () => {
  const order: string[] = [];
  const slow = (name: string, ms: number): Tool =>
    tool(name, async () => {
      order.push(`${name} starts`);
      await sleep(ms);
      order.push(`${name} ends`);
      return name;
    });

  const { events } = await scene([slow('x', 20), slow('y', 1)]);

  expect(order).toEqual(['x starts', 'y starts', 'y ends', 'x ends']);
  expect([answerOf(events, 0), answerOf(events, 1)]).toEqual([{ result: 'x' }, { result: 'y' }]);
});

it.each<[RunConfig, number]>([
  [{ toolExecutionMode: 'sequential' }, 1],
  [{ maxParallelToolCalls: 2 }, 2],
  [{}, 5],
])('with %o runs %i calls at a time', async (runConfig, expected) => {
  let running = 0;
  let most = 0;
  const tracked = tool('t', async () => {
    running += 1;
    most = Math.max(most, running);
    await sleep(2);
    running -= 1;
  });

  await scene([tracked], runConfig, { made: Array.from({ length: 5 }, () => call('t')) });

  expect(most).toBe(expected);
});

it('merges what calls change, in call order', async () => {
  const writer = (name: string, first: object, version: number): Tool =>
    tool(name, (_args, ctx) => {
      ctx.state.set('shared', first);
      ctx.state.set(name, true);
      ctx.actions.artifactDelta['file'] = version;
    });

  const { events, conversation } = await scene([writer('x', { a: 1, b: 1 }, 3), writer('y', { b: 2, c: 2 }, 2)]);

  expect(events[1]?.actions.stateDelta).toEqual({ shared: { a: 1, b: 2, c: 2 }, x: true, y: true });
  expect(events[1]?.actions.artifactDelta).toEqual({ file: 3 });
  expect(conversation.session?.state).toEqual({ shared: { a: 1, b: 2, c: 2 }, x: true, y: true });
});

it('lets a tool end the turn, and skip the summary of the model', async () => {
  const ending = tool('t', (_args, ctx) => ctx.endInvocation());
  const silent = tool('t', (_args, ctx) => {
    ctx.actions.skipSummarization = true;
    return { shown: 'as it is' };
  });

  const older = tool('t', (_args, ctx) => {
    ctx.actions.endInvocation = true;
  });

  const ended = await scene([ending]);
  const endedInOldWords = await scene([older]);
  const skipped = await scene([silent]);

  expect(ended.events[1]?.actions.endOfAgent).toBe(true);
  for (const { model } of [ended, endedInOldWords, skipped]) expect(model.requests).toHaveLength(1);
});

it('stores artifacts and searches memory for tools', async () => {
  const busy = tool('t', async (_args, ctx) => {
    const version = await ctx.saveArtifact('notes.txt', { text: 'hello' });
    return { version, names: await ctx.listArtifacts(), text: (await ctx.loadArtifact('notes.txt'))?.text };
  });

  const { events } = await scene([busy]);

  expect(answerOf(events)).toEqual({ version: 0, names: ['notes.txt'], text: 'hello' });
  expect(events[1]?.actions.artifactDelta).toEqual({ 'notes.txt': 0 });
});

it('takes call ids and artifact names for what they are, whatever they look like', async () => {
  const asking = tool('t', (_args, ctx) => {
    ctx.requestConfirmation();
    ctx.actions.artifactDelta['constructor'] = 3;
  });

  const { events } = await scene([asking], {}, { made: [call('t', {}, 'constructor'), call('t', {}, '__proto__')] });

  expect(Object.keys(events[1]!.actions.requestedToolConfirmations)).toEqual(['constructor', '__proto__']);
  expect(events[1]?.actions.artifactDelta).toEqual({ constructor: 3 });
  expect(events[2]?.content?.parts).toHaveLength(2);
  expect(events).toHaveLength(3);
});

it('gives a tool arguments of its own to change', async () => {
  const greedy = tool('t', (args) => {
    args['list'] = [...(args['list'] as number[]), 3];
    return args;
  });

  const { events } = await scene([greedy], {}, { made: [call('t', { list: [1, 2] })] });

  expect(events[0]?.content?.parts[0]?.functionCall?.args).toEqual({ list: [1, 2] });
  expect(answerOf(events)).toEqual({ list: [1, 2, 3] });
});

it('does not run the calls of an answer that was cut off', async () => {
  let ran = 0;
  const model = replyModel({ ...calls(call('t'), call('later')), finishReason: 'MAX_TOKENS' }, text('done'));
  const tools = [tool('t', () => (ran += 1)), tool('later', () => (ran += 1), { isLongRunning: true })];

  const events = await new Conversation(llmAgent({ name: 'a', model, tools })).send('go');

  expect(ran).toBe(0);
  expect(answerOf(events)).toEqual({ error: expect.stringContaining('cut off') });
  expect(events[0]?.longRunningToolIds).toBeUndefined();
  expect(summary(events).at(-1)).toBe('a: done');
});

it('leaves the calls to the client when the run says so', async () => {
  let ran = 0;

  const { events } = await scene([tool('t', () => (ran += 1))], { pauseOnToolCalls: true });

  expect(summary(events)).toEqual(['a: t({})']);
  expect(ran).toBe(0);
});

it('does not run the calls of fragments, and gives them the ids of the whole', async () => {
  let ran = 0;
  const fragment = { ...calls(call('t')), partial: true };
  const model = replyModel([fragment, { ...calls(call('t')) }], text('done'));

  const events = await new Conversation(llmAgent({ name: 'a', model, tools: [tool('t', () => (ran += 1))] })).send(
    'go',
  );

  const ids = events.slice(0, 2).map(({ content }) => content?.parts[0]?.functionCall?.id);
  expect(ids[0]).toMatch(/^adk-/);
  expect(ids[1]).toBe(ids[0]);
  expect(ran).toBe(1);
});

it('spans each call, and the merged answer', async () => {
  const { events, conversation } = await scene(
    [tool('x', () => 1), tool('y', () => 2)],
    {},
    { made: [call('x', { n: 1 }), call('y')] },
  );

  const spans = conversation.spans.filter(({ name }) => name.startsWith('execute_tool'));
  expect(spans.map(({ name }) => name)).toEqual(['execute_tool x', 'execute_tool y', 'execute_tool (merged)']);
  for (const { attributes } of spans) expect(attributes['gcp.vertex.agent.event_id']).toBe(events[1]?.id);
  expect(lateText(spans[0], 'gcp.vertex.agent.tool_call_args')).toBe('{"n":1}');
  expect(lateText(spans[0], 'gcp.vertex.agent.tool_response')).toBe('{"result":1}');
});
