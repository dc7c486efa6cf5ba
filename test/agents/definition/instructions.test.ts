import { expect, it } from 'vitest';
import type { LlmAgentSpec } from '../../../src/agents/definition/llm-spec.ts';
import { builtInPlanner, planReActPlanner } from '../../../src/agents/definition/planners.ts';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { ModelRequest } from '../../../src/core/model.ts';
import type { Tool, Toolset } from '../../../src/core/runtime.ts';
import { Conversation, summary } from '../../support/fake-run.ts';
import { call, calls, partial, parts, replyModel, text } from '../../support/reply-model.ts';

/** The request an agent with these options makes for "hi". */
async function requestOf(spec: Partial<LlmAgentSpec>, state: Record<string, unknown> = {}): Promise<ModelRequest> {
  const model = replyModel(text('ok'));
  await new Conversation(llmAgent({ name: 'a', model, ...spec }), { state }).send('hi');
  return model.requests[0]!;
}
const systemOf = async (spec: Partial<LlmAgentSpec>, state?: Record<string, unknown>): Promise<string | undefined> =>
  (await requestOf(spec, state)).config.systemInstruction;

it.each([
  ['You are {role}.', 'You are a cook.'],
  ['{{role}} and { role }', 'a cook and a cook'],
  ['{app:motto} {user:name} {n} {list} {flag}', 'Eat! Ann 7 {"a":[1]} true'],
  ['optional: "{missing?}"', 'optional: ""'],
  ['{"json": 1} {not a key} {} {other:role} {a.b}', '{"json": 1} {not a key} {} {other:role} {a.b}'],
  ['{nested}', '{role}'],
])('fills the state into "%s"', async (instruction, expected) => {
  const state = {
    role: 'a cook',
    'app:motto': 'Eat!',
    'user:name': 'Ann',
    n: 7,
    list: { a: [1] },
    flag: true,
    nested: '{role}',
  };

  expect(await systemOf({ instruction }, state)).toBe(expected);
});

it.each(['{missing}', '{missing?} {missing}', '{constructor}', '{artifact.none}'])(
  'fails before the model is asked when %s is not there',
  async (instruction) => {
    const model = replyModel();

    await expect(new Conversation(llmAgent({ name: 'a', model, instruction })).send('hi')).rejects.toMatchObject({
      code: 'ConfigurationException',
      message: expect.stringContaining('"a"'),
    });
    expect(model.requests).toEqual([]);
  },
);

it('fills in the newest version of an artifact', async () => {
  const beforeAgent: LlmAgentSpec['beforeAgent'] = async ({ context }) => {
    await context.saveArtifact('notes.txt', { text: 'old' });
    await context.saveArtifact('notes.txt', { text: 'new' });
  };

  expect(await systemOf({ instruction: 'Read: {artifact.notes.txt} {artifact.none?}', beforeAgent })).toBe(
    'Read: new ',
  );
});

it('takes the text of an instruction provider as it is', async () => {
  const instruction: LlmAgentSpec['instruction'] = async (ctx) => `{role} ${String(ctx.session.state['role'])}`;

  expect(await systemOf({ instruction }, { role: 'a cook' })).toBe('{role} a cook');
});

it('puts the global instruction of the root first, for every agent of the tree', async () => {
  const model = replyModel(text('ok'));
  const child = llmAgent({ name: 'child', instruction: 'Child.', globalInstruction: 'never' });
  const root = llmAgent({
    name: 'root',
    model,
    globalInstruction: 'Be {mood}.',
    instruction: 'Root.',
    subAgents: [child],
  });

  await new Conversation(root, { state: { mood: 'kind' } }).send('hi', { agent: 'child' });

  expect(model.requests[0]?.config.systemInstruction).toMatch(/^Be kind\.\n\nChild\.\n\n/);
});

it('sends no system instruction when there is none', async () => {
  expect(await systemOf({})).toBeUndefined();
});

it('puts the instruction before the newest message when a static one takes its place', async () => {
  const request = await requestOf(
    { staticInstruction: { parts: [{ text: 'Never {changes}.' }] }, instruction: 'Now {n}.' },
    { n: 1 },
  );

  expect(request.config.systemInstruction).toBe('Never {changes}.');
  expect(request.contents.map(({ parts: [part] }) => part?.text)).toEqual(['Now 1.', 'hi']);
});

it('shows samples, those that fit the message when a function finds them', async () => {
  const examples: LlmAgentSpec['examples'] = (query) => [{ input: query, output: 'Hello!' }];

  expect(await systemOf({ examples, instruction: 'Greet.' })).toMatch(/^Greet\.\n\n[^]*user: hi\nmodel: Hello!/);
  expect(await systemOf({ examples: [] })).toBeUndefined();
});

it.each([
  'tools',
  'systemInstruction',
  'system_instruction',
  'responseSchema',
  'response_schema',
  'responseJsonSchema',
])('refuses %s in generateContentConfig', (key) => {
  expect(() => llmAgent({ name: 'a', generateContentConfig: { [key]: {} } })).toThrow(
    `generateContentConfig of "a" may not set "${key}"`,
  );
});

it('starts each request from generateContentConfig', async () => {
  const { config } = await requestOf({
    generateContentConfig: { temperature: 0, labels: { team: 'x' }, safetySettings: [] },
  });

  expect(config).toEqual({ temperature: 0, labels: { team: 'x', adk_agent_name: 'a' }, safetySettings: [] });
});

it('refuses a model that is nowhere in the chain', async () => {
  await expect(new Conversation(llmAgent({ name: 'a' })).send('hi')).rejects.toThrow('Agent "a" has no model');
});

it.each([
  [undefined, false, 'script'],
  ['scripted', true, 'script'],
  ['gemini-x', false, 'script'],
  ['gemini-x', true, 'registry'],
])('with model %s, configured: %s, answers from the %s', async (model, isConfigured, expected) => {
  const root = llmAgent({ name: 'a', ...(model && { model }), script: [{ text: 'script' }] });
  const models = { resolve: () => replyModel(text('registry')), isConfigured: () => isConfigured };

  expect(summary(await new Conversation(root, { models }).send('hi'))).toEqual([`a: ${expected}`]);
});

it('lets the built-in planner set how the model thinks', async () => {
  const planner = builtInPlanner({ thinkingConfig: { includeThoughts: true } });

  expect(
    (await requestOf({ planner, generateContentConfig: { thinkingConfig: { thinkingBudget: 1 } } })).config
      .thinkingConfig,
  ).toEqual({
    includeThoughts: true,
  });
});

it('shows the answer of a plan-react agent without its plan, which the model sees again', async () => {
  const plan = '/*PLANNING*/ 1. tick\n/*ACTION*/';
  const tick: Tool = { kind: 'tool', name: 'tick', description: 'Ticks.', run: () => 'tock' };
  const model = replyModel(parts({ text: plan }, call('tick')), [
    partial('/*REASON'),
    partial('ING*/ fine. /*FINAL_ANSWER*/'),
    partial('It ticks.'),
    text('/*REASONING*/ fine. /*FINAL_ANSWER*/ It ticks.'),
  ]);
  const conversation = new Conversation(
    llmAgent({ name: 'a', model, tools: [tick], planner: planReActPlanner(), outputKey: 'answer' }),
  );

  const events = await conversation.send('go');

  expect(summary(events)).toEqual([
    `a: (${plan}) + tick({})`,
    'a: tick -> {"result":"tock"}',
    'a: /*REASON + partial',
    'a: ING*/ fine. /*FINAL_ANSWER*/ + partial',
    'a: It ticks. + partial',
    'a: (/*REASONING*/ fine. ) + It ticks. + state {"answer":"It ticks."}',
  ]);
  expect(model.requests[0]?.config.systemInstruction).toContain('/*FINAL_ANSWER*/');
  expect(model.requests[1]?.contents[1]?.parts[0]?.thought).toBeUndefined();
});

it('asks toolsets for their tools at every step, and hooks in list order', async () => {
  const order: string[] = [];
  const shaping = (name: string): Tool => ({
    kind: 'tool',
    name,
    description: name,
    processRequest: (request) => {
      order.push(name);
      request.config.tools = [...(request.config.tools ?? []), { [name]: {} }];
    },
  });
  let listed = 0;
  const toolset: Toolset = {
    kind: 'toolset',
    getTools: async () => {
      listed += 1;
      return [
        { kind: 'tool', name: 'tick', description: 'x', declaration: { name: 'tick', description: 'x' }, run: () => 1 },
        shaping('inner'),
      ];
    },
    processRequest: () => void order.push('set'),
    close: async () => void order.push('closed'),
  };
  const model = replyModel(calls(call('tick')), text('done'));
  const root = llmAgent({ name: 'a', model, tools: [shaping('first'), toolset, shaping('last')] });

  await new Conversation(root).send('hi');
  await root.close?.();

  expect(listed).toBe(2);
  expect(order).toEqual(['first', 'set', 'inner', 'last', 'first', 'set', 'inner', 'last', 'closed']);
  expect(model.requests[0]?.config.tools).toEqual([
    { functionDeclarations: [{ name: 'tick', description: 'x' }] },
    { first: {} },
    { inner: {} },
    { last: {} },
  ]);
});

it('refuses two tools of the same name, from a toolset too', async () => {
  const tool: Tool = { kind: 'tool', name: 't', description: 'x' };
  const toolset: Toolset = { kind: 'toolset', getTools: async () => [tool], close: async () => {} };

  expect(() => llmAgent({ name: 'a', tools: [tool, tool] })).toThrow('two tools named "t"');
  await expect(requestOf({ tools: [tool, toolset] })).rejects.toThrow('two tools named "t"');
});
