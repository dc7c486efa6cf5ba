import { expect, it } from 'vitest';
import { definitionOf } from '../../src/agents/definition/llm-definition.ts';
import type { Agent, Tool, ToolContext } from '../../src/core/runtime.ts';
import { agentsDir, yamlAgent } from './agents-dir.ts';

async function rootOf(files: Record<string, string>): Promise<Agent> {
  const named = Object.entries(files).map(([name, text]) => [`app/${name}`, text]);
  const { load } = agentsDir(Object.fromEntries(named) as Record<string, string>);
  return (await load({ warn: (message) => expect.fail(message) }).loadAgent('app')).rootAgent;
}

it('reads every key of an LLM agent', async () => {
  const agent = await rootOf({
    'root_agent.yaml': `
agent_class: LlmAgent
name: all_keys
model: gemini-2.5-pro
description: Knows all keys.
instruction: Be brief, {name?}.
global_instruction: Be kind.
static_instruction: Never lie.
disallow_transfer_to_parent: true
disallow_transfer_to_peers: yes
include_contents: NONE
output_key: answer
max_steps: 3
input_schema: { type: object, properties: { some_key: { type: string } } }
output_schema: { name: Answer }
tools: [exit_loop, { name: app.tools.roll_die }]
script: [{ match: hi, text: hello, delay_ms: 5 }]
generate_content_config:
  temperature: 0.2
  max_output_tokens: 100
  safety_settings: [{ category: harm_category_harassment, threshold: BLOCK_NONE }]
  thinking_config: { include_thoughts: true }
  labels: { my_label: a }
  some_future_setting: { x_y: 1 }
`,
    'registry.ts': `
export const tools = { roll_die: { kind: 'tool', name: 'roll_die', description: '' } };
export const Answer = { type: 'object', properties: { text: { type: 'string' } } };
`,
  });

  expect(agent).toMatchObject({
    name: 'all_keys',
    description: 'Knows all keys.',
    model: 'gemini-2.5-pro',
    canTransferToParent: false,
    canTransferToPeers: false,
    inputSchema: { type: 'object', properties: { some_key: { type: 'string' } } },
    tools: [{ name: 'exit_loop' }, { name: 'roll_die' }],
  });
  expect(definitionOf(agent)).toMatchObject({
    currentTurnOnly: true,
    outputKey: 'answer',
    maxSteps: 3,
    staticInstruction: 'Never lie.',
    config: {
      temperature: 0.2,
      maxOutputTokens: 100,
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      thinkingConfig: { includeThoughts: true },
      labels: { my_label: 'a' },
      someFutureSetting: { x_y: 1 },
    },
  });
});

it('takes camelCase, snake_case and both in one file, and leaves the keys of maps alone', async () => {
  const agent = await rootOf({
    'root_agent.yaml': `
agentClass: LlmAgent
name: mixed
instruction: Be brief.
includeContents: none
output_key: answer
generateContentConfig: { topP: 0.5, top_k: 3, labels: { snake_case: a, camelCase: b } }
`,
  });

  expect(definitionOf(agent)).toMatchObject({
    currentTurnOnly: true,
    outputKey: 'answer',
    config: { topP: 0.5, topK: 3, labels: { snake_case: 'a', camelCase: 'b' } },
  });
});

it('builds trees of all agent kinds, in order', async () => {
  const agent = await rootOf({
    'root_agent.yaml': `
agent_class: SequentialAgent
name: root
sub_agents:
  - config_path: ./parts/side.yaml
  - parts/round.yaml
  - code: app.life.agent
`,
    'parts/side.yaml':
      'agent_class: google.adk.agents.ParallelAgent\nname: side\nsub_agents: [{ configPath: ../one.yml }]',
    'parts/round.yaml':
      'agent_class: com.google.adk.agents.LoopAgent\nname: round\nmax_iterations: 2\nsub_agents: [config_path: two.yaml]',
    'one.yml': yamlAgent('one'),
    'parts/two.yaml': yamlAgent('two', 'agent_class: google.adk.agents.llm_agent.LlmAgent'),
    'registry.js': "export const life = { agent: { name: 'life', async *run() {} } };",
  });

  expect(agent).toMatchObject({
    kind: 'sequential',
    subAgents: [
      { name: 'side', kind: 'parallel', subAgents: [{ name: 'one' }] },
      { name: 'round', kind: 'loop', subAgents: [{ name: 'two' }] },
      { name: 'life' },
    ],
  });
});

it.each(['_hidden', 'größe', 'a_b', '日本'])('takes %j for a name without a warning', async (name) => {
  expect((await rootOf({ 'root_agent.yaml': yamlAgent(JSON.stringify(name)) })).name).toBe(name);
});

it('takes callbacks of the registry in their order, by name or as mappings', async () => {
  const agent = await rootOf({
    'root_agent.yaml': yamlAgent(
      'called',
      'before_agent_callbacks: [{ name: app.callbacks.first }, second]\nafterModelCallbacks: [{ name: first }]\n',
    ),
    'registry.ts': 'export function first() { return 1; }\nexport function second() { return 2; }\n',
  });

  expect(agent.callbacks?.beforeAgent?.map((callback) => callback.name)).toEqual(['first', 'second']);
  expect(definitionOf(agent)?.callbacks.afterModel.map((callback) => callback.name)).toEqual(['first']);
});

it('finds code under free names of an exported registry, and beside the YAML in agent.ts', async () => {
  const agent = await rootOf({
    'root_agent.yaml': yamlAgent('coded', 'model_code: { name: any.free.key }\ntools: [own]\n'),
    'agent.ts': `
export const registry = { 'any.free.key': { name: 'mine', async *generate() {} } };
export const own = { kind: 'tool', name: 'own', description: '' };
`,
  });

  expect(agent).toMatchObject({ model: 'mine', tools: [{ name: 'own' }] });
});

it('makes tools of agents, examples, long-running functions and functions with args', async () => {
  const agent = await rootOf({
    'root_agent.yaml': yamlAgent(
      'tooled',
      `
tools:
  - name: AgentTool
    args: { agent: { config_path: helper.yaml }, skip_summarization: true }
  - name: ExampleTool
    args: { examples: [{ input: { role: user, parts: [{ text: hi }] }, output: [{ role: model, parts: [{ text: ho }] }] }] }
  - name: LongRunningFunctionTool
    args: { func: app.tools.ask }
  - name: app.tools.make
    args: { some_key: 1 }
  - name: google.adk.tools.google_search
`,
    ),
    'helper.yaml': yamlAgent('helper'),
    'registry.ts': `
export const tools = {
  ask: { kind: 'tool', name: 'ask', description: 'Asks.', declaration: { name: 'ask', description: 'Asks.' } },
  make: (args: object) => ({ kind: 'tool', name: 'made', description: JSON.stringify(args) }),
};
export const examples = { find: () => [] };
`,
  });

  expect(agent.tools).toMatchObject([
    { name: 'helper' },
    { name: 'example_tool' },
    { name: 'ask', isLongRunning: true },
    { name: 'made', description: '{"some_key":1}' },
    { name: 'google_search' },
  ]);
});

it('takes examples from the registry', async () => {
  const agent = await rootOf({
    'root_agent.yaml': yamlAgent(
      'taught',
      'tools: [{ name: google.adk.tools.ExampleTool, args: { examples: app.examples.find } }]\n',
    ),
    'registry.ts': 'export const examples = { find: () => [] };',
  });

  expect(agent.tools).toMatchObject([{ name: 'example_tool' }]);
});

it('makes agents of a class of the registry', async () => {
  const agent = await rootOf({
    'root_agent.yaml': 'agent_class: app.MyAgent\nname: own\nlevel: 3\nsub_agents: [{ config_path: sub.yaml }]\n',
    'sub.yaml': yamlAgent('sub'),
    'registry.ts': 'export const MyAgent = (config: object) => ({ ...config, async *run() {} });',
  });

  expect(agent).toMatchObject({ name: 'own', level: 3, subAgents: [{ name: 'sub' }] });
});

it('takes plugins of the registry for the app', async () => {
  const { load } = agentsDir({
    'app/root_agent.yaml': yamlAgent('root'),
    'app/registry.ts': "export const plugins = [{ name: 'logger' }];",
  });

  expect((await load().loadAgent('app')).plugins).toEqual([{ name: 'logger' }]);
});

it('reads anchors, merges and several styles of YAML', async () => {
  const agent = await rootOf({
    'root_agent.yaml': `%YAML 1.2
---
name: "styled"
instruction: >-
  Be
  brief.
generate_content_config: &config
  temperature: 0.1
sub_agents: []
description:
...
`,
  });

  expect(agent).toMatchObject({ name: 'styled', instruction: 'Be brief.', description: '' });
});

it('takes a plain function of the registry for a tool with any arguments', async () => {
  const agent = await rootOf({
    'root_agent.yaml': `
name: plain
instruction: Book days.
model: gemini-2.5-flash
tools: [{ name: app.tools.book }, { name: LongRunningFunctionTool, args: { func: app.tools.ask } }]
`,
    'registry.ts': `
export const book = (args: { day: string }) => ({ booked: args.day });
book.description = 'Books a day';
export const ask = () => ({ status: 'pending' });
`,
  });

  const [book, ask] = (agent.tools ?? []) as Tool[];
  expect(book).toMatchObject({ name: 'book', declaration: { name: 'book', description: 'Books a day' } });
  expect(await book?.run?.({ day: 'Monday' }, {} as ToolContext)).toEqual({ booked: 'Monday' });
  expect(ask).toMatchObject({ name: 'ask', isLongRunning: true });
});
