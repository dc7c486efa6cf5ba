import { expect, it } from 'vitest';
import type { LlmAgentSpec } from '../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { narrationStart, quoted } from '../../src/agents/request/narration.ts';
import { sequentialAgent } from '../../src/agents/workflow.ts';
import type { Agent } from '../../src/core/runtime.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { call, calls, replyModel, text } from '../support/reply-model.ts';

const transfer = (name: string) => calls(call('transfer_to_agent', { agent_name: name }));

function team(model: LlmAgentSpec['model'], child: Partial<LlmAgentSpec> = {}): Agent {
  const math = llmAgent({ name: 'math', description: 'Knows numbers.', ...child });
  const art = llmAgent({ name: 'art', description: 'Knows pictures.' });
  return llmAgent({ name: 'root', model, description: 'Leads.', subAgents: [math, art] });
}

it('hands over within the same turn, and the other agent inherits the model', async () => {
  const model = replyModel(transfer('math'), text('four'));

  const events = await new Conversation(team(model)).send('2+2?');

  expect(summary(events)).toEqual([
    'root: transfer_to_agent({"agent_name":"math"})',
    'root: transfer_to_agent -> {"result":null}',
    'math: four',
  ]);
  expect(events[1]?.actions.transferToAgent).toBe('math');
  expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(1);
});

it('tells the model whom it may hand over to', async () => {
  const model = replyModel(text('ok'));

  await new Conversation(team(model)).send('hi');

  const { systemInstruction = '', tools = [] } = model.requests[0]!.config;
  expect(systemInstruction).toContain('"root"');
  expect(systemInstruction).toContain('Leads.');
  expect(systemInstruction).toContain('math: Knows numbers.');
  expect(systemInstruction).toContain('`art`, `math`');
  expect(tools[0]?.functionDeclarations?.[0]).toMatchObject({
    name: 'transfer_to_agent',
    parameters: { properties: { agent_name: { enum: ['math', 'art'] } }, required: ['agent_name'] },
  });
});

it.each<[Partial<LlmAgentSpec>, string[] | undefined]>([
  [{}, ['root', 'art']],
  [{ disallowTransferToParent: true }, ['art']],
  [{ disallowTransferToPeers: true }, ['root']],
  [{ disallowTransferToParent: true, disallowTransferToPeers: true }, undefined],
])('lets a sub-agent with %o hand over to %o', async (options, names) => {
  const model = replyModel(text('ok'));

  await new Conversation(team(model, options)).send('hi', { agent: 'math' });

  const { systemInstruction, tools } = model.requests[0]!.config;
  const properties = tools?.[0]?.functionDeclarations?.[0]?.parameters?.['properties'] as
    | { agent_name: { enum: string[] } }
    | undefined;
  expect(properties?.agent_name.enum).toEqual(names);
  expect(systemInstruction?.includes('math') ?? false).toBe(names !== undefined);
});

it('has no transfer between agents whose parent is not led by a model', async () => {
  const model = replyModel(text('one'), text('two'));
  const root = sequentialAgent({
    name: 'root',
    subAgents: [llmAgent({ name: 'a', model }), llmAgent({ name: 'b', model })],
  });

  await new Conversation(root).send('hi');

  expect(model.requests.map(({ config }) => config.tools)).toEqual([undefined, undefined]);
});

it('answers a transfer to nobody with the names there are', async () => {
  const model = replyModel(transfer('chess'), text('sorry'));

  const events = await new Conversation(team(model)).send('hi');

  expect(events[1]?.content?.parts[0]?.functionResponse?.response['error']).toContain('math, art');
  expect(events[1]?.actions.transferToAgent).toBeUndefined();
  expect(summary(events).at(-1)).toBe('root: sorry');
});

it('accepts the other spelling of the argument', async () => {
  const model = replyModel(calls(call('transfer_to_agent', { agentName: 'art' })), text('a picture'));

  expect(summary(await new Conversation(team(model)).send('hi')).at(-1)).toBe('art: a picture');
});

it('follows a hand-over from agent to agent within one step', async () => {
  const model = replyModel(transfer('math'), transfer('art'), text('done by art'));

  const events = await new Conversation(team(model)).send('hi');

  expect(events.map(({ author }) => author)).toEqual(['root', 'root', 'math', 'math', 'art']);
  expect(model.requests).toHaveLength(3);
});

it('lets any tool hand over, but only to agents that exist', async () => {
  const tool = functionTool({
    name: 'route',
    description: 'Routes.',
    parameters: { type: 'object', properties: { to: { type: 'string' } } },
    run: ({ to }, ctx) => {
      ctx.actions.transferToAgent = String(to);
      return { ok: true };
    },
  });
  const model = replyModel(calls(call('route', { to: 'nobody' })), calls(call('route', { to: 'helper' })), text('hi'));
  const root = llmAgent({ name: 'root', model, tools: [tool], subAgents: [llmAgent({ name: 'helper' })] });

  const events = await new Conversation(root).send('go');

  expect(summary(events)).toEqual([
    'root: route({"to":"nobody"})',
    'root: route -> {"error":"There is no agent \\"nobody\\" to hand over to"}',
    'root: route({"to":"helper"})',
    'root: route -> {"ok":true}',
    'helper: hi',
  ]);
});

it('tells other agents what was said, as the user', async () => {
  const model = replyModel(transfer('math'), text('four'));

  await new Conversation(team(model)).send('2+2?');

  expect(model.requests[1]?.contents).toEqual([
    { role: 'user', parts: [{ text: '2+2?' }] },
    {
      role: 'user',
      parts: [
        { text: narrationStart },
        { text: `[root] called the tool "transfer_to_agent" with:\n${quoted('{"agent_name":"math"}')}` },
      ],
    },
    {
      role: 'user',
      parts: [
        { text: narrationStart },
        { text: `[root] got from the tool "transfer_to_agent":\n${quoted('{"result":null}')}` },
      ],
    },
  ]);
});
