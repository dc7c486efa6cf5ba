import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentsDir, failureOf, yamlAgent } from './agents-dir.ts';

async function faultOf(files: Record<string, string>, strict = false): Promise<string> {
  const named = Object.entries(files).map(([name, text]) => [`app/${name}`, text]);
  const { path, load } = agentsDir(Object.fromEntries(named) as Record<string, string>);
  const failure = await failureOf(load({ strict }), 'app');
  expect(failure.code).toBe('ConfigurationException');
  expect(failure.message).not.toContain(path);
  return failure.message;
}

const root = (more: string): Record<string, string> => ({ 'root_agent.yaml': yamlAgent('root', more) });
const at = 'app/root_agent.yaml:';

it.each([
  ['an empty file', '', `${at}1:1: is empty`],
  ['a list', '- a\n- b\n', `${at}1:1: must be a mapping of keys to values in \`- a\``],
  ['a text', 'hello', `${at}1:1: must be a mapping`],
  ['two documents', 'name: a\n---\nname: b\n', `${at}2:1: `],
  ['a key twice', 'name: a\nname: b\n', `${at}2:1: Map keys must be unique in \`name: b\``],
  ['an unclosed list', 'name: [a\n', `${at}2:1: `],
  ['a bad indent', 'name: a\n  model: b\n', `${at}1:7: `],
  ['a tab', 'name: a\nsub_agents:\n\t- x\n', `${at}3:1: `],
  ['a tag', 'name: !!python/object:os.system a\n', `${at}1:7: Unresolved tag`],
  ['no name', 'instruction: x\n', `${at}1:1: "name" is missing`],
  ['a slip in a needed key', 'nmae: a\ninstruction: x\n', `${at}1:1: unknown key "nmae" (did you mean "name"?)`],
  ['no instruction', 'name: a\n', `${at}1:1: "instruction" is missing`],
  ['an empty instruction', 'name: a\ninstruction: ""\n', `${at}2:1: "instruction" is empty`],
  ['the name of the user', yamlAgent('user'), `${at}1:1: "name" must not be "user"`],
  ['a name that is none', yamlAgent('"a/b"'), `${at}1:1: "name" must be a name: letters`],
  ['a number for a text', 'name: 5\ninstruction: x', `${at}1:1: "name" must be a text, not the number 5`],
  [
    'a text for a number',
    yamlAgent('a', 'generate_content_config:\n  temperature: hot\n'),
    `${at}4:3: "generate_content_config.temperature" must be a number, not the text "hot"`,
  ],
  [
    'a text for a truth',
    yamlAgent('a', 'disallow_transfer_to_peers: maybe\n'),
    `${at}3:1: "disallow_transfer_to_peers" must be true or false`,
  ],
  [
    'a word of another list',
    yamlAgent('a', 'include_contents: some\n'),
    `${at}3:1: "include_contents" must be "default" or "none", not "some"`,
  ],
  ['both spellings', yamlAgent('a', 'output_key: x\noutputKey: y\n'), 'is set twice'],
  [
    'what belongs to the agent',
    yamlAgent('a', 'generate_content_config: { system_instruction: x }\n'),
    'does not belong here: use "instruction" of the agent',
  ],
  [
    'an unknown class',
    yamlAgent('a', 'agent_class: LmmAgent\n'),
    `${at}3:1: unknown agent_class "LmmAgent" (did you mean "LlmAgent"?)`,
  ],
  ['a class in small letters', yamlAgent('a', 'agent_class: llmagent\n'), '(did you mean "LlmAgent"?)'],
  ['no iterations', 'agent_class: LoopAgent\nname: a\nmax_iterations: 0\n', `${at}3:1: "max_iterations"`],
  [
    'a bad script',
    yamlAgent('a', 'script:\n  - match: "("\n    text: x\n'),
    `${at}4:5: "script[0].match" is not a regular expression`,
  ],
  [
    'a callback that is no list',
    yamlAgent('a', 'before_agent_callbacks: x\n'),
    `${at}3:1: "before_agent_callbacks" must be a list, not the text "x"`,
  ],
])('names the place of %s', async (_, text, message) => {
  expect(await faultOf({ 'root_agent.yaml': text })).toContain(message);
});

it('tells all faults of a file at once', async () => {
  const message = await faultOf({ 'root_agent.yaml': 'name: 5\noutput_key: [x]\n' });

  expect(message.split('\n')).toEqual([
    expect.stringContaining('"name" must be a text'),
    expect.stringContaining('"instruction" is missing'),
    expect.stringContaining('"output_key" must be a text, not a list'),
  ]);
});

it.each([
  ['sub_agents: [{ config_path: none.yaml }]', `${at}3:14: "none.yaml" does not exist`],
  [
    'sub_agents: [{ config_path: ../other/root_agent.yaml }]',
    '"../other/root_agent.yaml" leads out of the folder of the app',
  ],
  ['sub_agents: [{ config_path: /etc/passwd }]', '"/etc/passwd" is an absolute path'],
  ['sub_agents: [{ config_path: "C:\\\\x.yaml" }]', 'is an absolute path'],
  ['sub_agents: [{ config_path: "file:///etc/x.yaml" }]', 'is an absolute path'],
  ['sub_agents: [{ config_path: .env }]', '".env" is not a YAML file'],
  ['sub_agents: [{ config_path: root_agent.yaml }]', 'closes a circle: root_agent.yaml -> root_agent.yaml'],
  ['sub_agents: [{}]', 'an agent is named by either "config_path" or "code"'],
  ['sub_agents: [{ config_path: a.yaml, code: b }]', 'an agent is named by either "config_path" or "code"'],
  ['sub_agents: [{ code: os.system }]', 'agent "os.system" not found in a registry.ts beside root_agent.yaml'],
  ['tools: [gogle_search]', `${at}3:9: Tool or toolset not found: "gogle_search" (did you mean "google_search"?)`],
  ['tools: [{ name: my_tools.read_file }]', 'tool "my_tools.read_file" not found in a registry.ts'],
  ['tools: [{ name: "" }]', `${at}3:11: "tools[0].name" is empty`],
  ['tools: [{ name: exit_loop, args: { x: 1 } }]', 'takes no args'],
  ['tools: [{ name: AgentTool }]', '"tools[0].args" is missing'],
  ['tools: [{ name: AgentTool, args: { agnet: x } }]', '"tools[0].args.agent" is missing'],
  ['tools: [{ name: LongRunningFunctionTool, args: { func: x } }]', 'tool "x" not found'],
  ['tools: [{ name: McpToolset }]', 'needs "args"'],
  ['tools: [{ name: McpToolset, args: { tool_filter: [x] } }]', 'needs exactly one of stdio_server_params, '],
  [
    'tools: [{ name: MCPToolset, args: { sse_server_params: { url: "ftp://x" } } }]',
    'must be an address that starts with http',
  ],
  [
    'tools: [{ name: MCPToolset, args: { streamable_http_connection_params: { url: "http://x", timeout: soon } } }]',
    'must be a number, not the text "soon"',
  ],
  [
    'tools: [{ name: McpToolset, args: { sse_server_params: { url: "http://x" }, header_provider: nobody } }]',
    'header provider "nobody" not found',
  ],
  ['model: a\nmodel_code: { name: x }', 'either "model" or "model_code", not both'],
  ['before_tool_callbacks: [{ name: x.y }]', 'before_tool_callback "x.y" not found'],
  ['code_executor: x', 'code executor "x" not found in a registry.ts'],
  ['code_executor: { name: JavaScriptSandbox, args: { timeout: 1 } }', 'unknown key "timeout"'],
  ['code_executor: { name: BuiltInCodeExecutor, args: { x: 1 } }', 'takes no args'],
])('refuses %s', async (text, message) => {
  expect(await faultOf(root(text))).toContain(message);
});

it('names the file in which a sub-agent is wrong', async () => {
  const files = { ...root('sub_agents: [{ config_path: sub/a.yaml }]'), 'sub/a.yaml': 'name: a\ninstruction: 1\n' };

  expect(await faultOf(files)).toMatch(/^app\/sub\/a.yaml:2:1: "instruction" must be a text/);
});

it('says what the registry has and what it has not', async () => {
  const files = {
    ...root('before_agent_callbacks: [greet]'),
    'registry.ts': 'export const greeter = 1, other = () => {};',
  };
  expect(await faultOf(files)).toContain(
    'before_agent_callback "greet" not found in registry.ts (did you mean "greeter"?)',
  );

  const notFunction = { ...root('before_agent_callbacks: [greeter]'), 'registry.ts': 'export const greeter = 1;' };
  expect(await faultOf(notFunction)).toContain('Invalid before_agent_callback: "greeter" is not a function');

  const noTool = { ...root('tools: [greet]'), 'registry.ts': 'export const greet = 1;' };
  expect(await faultOf(noTool)).toContain('"greet" is not a tool');
});

it.each(['constructor', '__proto__', 'toString', 'app.__proto__.x', 'hasOwnProperty'])(
  'finds no code under %j',
  async (name) => {
    const files = {
      ...root(`tools: [${JSON.stringify(name)}]`),
      'registry.ts': 'export const registry = { a: { b: 1 } };',
    };

    expect(await faultOf(files)).toContain('not found in registry.ts');
  },
);

it('refuses circles, deep nesting and files that stand for masses of agents', async () => {
  const seq = (name: string, subs: string[]): string =>
    `agent_class: SequentialAgent\nname: ${name}\nsub_agents: ${JSON.stringify(subs)}\n`;
  const circle = {
    'root_agent.yaml': seq('a', ['b.yaml']),
    'b.yaml': seq('b', ['c.yaml']),
    'c.yaml': seq('c', ['b.yaml']),
  };
  expect(await faultOf(circle)).toContain('app/c.yaml:3:14: "b.yaml" closes a circle: b.yaml -> c.yaml -> b.yaml');

  const deep = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      index === 0 ? 'root_agent.yaml' : `f${index}.yaml`,
      seq(`n${index}`, [`f${index + 1}.yaml`]),
    ]),
  );
  expect(await faultOf(deep)).toContain('is nested deeper than 20 agents');

  const wide: Record<string, string> = {};
  const level = (depth: number): string[] => ['a', 'b', 'c'].map((side) => `${side}${depth}.yaml`);
  for (let depth = 0; depth < 9; depth += 1) {
    for (const file of level(depth)) wide[file] = seq(file.slice(0, -5), depth === 8 ? [] : level(depth + 1));
  }
  expect(await faultOf({ ...wide, 'root_agent.yaml': seq('root', level(0)) })).toContain('has more than 500 agents');
});

it('refuses references that are links out of the folder, and a registry that is one', async () => {
  const outside = agentsDir({ 'x.yaml': yamlAgent('x'), 'code.ts': 'globalThis.escaped = true; export const t = 1;' });
  const { path, load } = agentsDir({
    'one/root_agent.yaml': yamlAgent('one', 'sub_agents: [{ config_path: link.yaml }]'),
    'two/root_agent.yaml': yamlAgent('two', 'sub_agents: [{ config_path: folder/x.yaml }]'),
    'three/root_agent.yaml': yamlAgent('three', 'tools: [t]'),
  });
  symlinkSync(join(outside.path, 'x.yaml'), join(path, 'one/link.yaml'));
  symlinkSync(outside.path, join(path, 'two/folder'));
  symlinkSync(join(outside.path, 'code.ts'), join(path, 'three/registry.ts'));
  const loader = load();

  for (const name of ['one', 'two', 'three']) {
    expect((await failureOf(loader, name)).message).toContain('is a link that leads out of the folder of the app');
  }
  expect(globalThis).not.toHaveProperty('escaped');
});

it('survives bombs', async () => {
  const laughs = Array.from(
    { length: 12 },
    (_, index) =>
      `a${index}: &a${index} [${Array(9)
        .fill(index === 0 ? 'lol' : `*a${index - 1}`)
        .join(', ')}]`,
  );
  expect(await faultOf({ 'root_agent.yaml': laughs.join('\n') })).toContain('uses too many aliases');
  expect(await faultOf({ 'root_agent.yaml': '['.repeat(50_000) })).toContain('is nested too deeply');
  expect(await faultOf({ 'root_agent.yaml': `name: ${'x'.repeat(1_000_001)}` })).toContain(
    'is larger than 1000000 characters',
  );
  expect(await faultOf({ 'root_agent.yaml': 'a: &a [*a]\nname: x\n' })).toContain('app/root_agent.yaml:');
});

it('takes no time over masses of keys', async () => {
  const keys = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1\n`).join('');

  expect(await faultOf(root(keys), true)).toContain('unknown key "k9"; and 39990 more in `k0: 1`');
  expect(await faultOf(root(`generate_content_config:\n  labels: { ${'k: 1, '.repeat(20_000)} }`))).toContain(
    ':4:19: Map keys must be unique',
  );
});

it('reads UTF-16 that says so', async () => {
  const { path, write, load } = agentsDir();
  write('app/README.md', '');
  const text = Buffer.from(`\uFEFF${yamlAgent('wide')}`, 'utf16le');
  for (const bytes of [text, Buffer.from(text).swap16()]) {
    writeFileSync(join(path, 'app/root_agent.yaml'), bytes);
    expect((await load().loadAgent('app')).rootAgent.name).toBe('wide');
  }
});

it('changes no prototype', async () => {
  await faultOf(
    { 'root_agent.yaml': 'name: x\n__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n' },
    true,
  );

  expect({}).not.toHaveProperty('polluted');
});

it('warns of unknown keys with what was probably meant, or refuses them when strict', async () => {
  const files = {
    'app/root_agent.yaml': yamlAgent('a', 'instructions: x\ngenerate_content_config:\n  temprature: 1\n'),
  };
  const warnings: string[] = [];
  const { load } = agentsDir(files);

  await load({ warn: (message) => warnings.push(message) }).loadAgent('app');

  expect(warnings).toEqual(
    [
      'app/root_agent.yaml:5:3: unknown key "temprature" (did you mean "temperature"?) in `temprature: 1`',
      'app/root_agent.yaml:3:1: unknown key "instructions" (did you mean "instruction"?) in `instructions: x`',
    ].toSorted((a, b) => warnings.indexOf(a) - warnings.indexOf(b)),
  );
  expect((await failureOf(load({ strict: true }), 'app')).message).toContain('unknown key "instructions"');
});

it('warns of keys that mean nothing to a kind of agent', async () => {
  const warnings: string[] = [];
  const { load } = agentsDir({ 'app/root_agent.yaml': 'agent_class: SequentialAgent\nname: a\nmodel: x\n' });

  await load({ warn: (message) => warnings.push(message) }).loadAgent('app');

  expect(warnings).toEqual([expect.stringContaining('app/root_agent.yaml:3:1: unknown key "model"')]);
});

it('warns of agent names that are no identifiers, strict or not', async () => {
  for (const strict of [false, true]) {
    const warnings: string[] = [];
    const { load } = agentsDir({ 'app/root_agent.yaml': yamlAgent('my agent.v-2') });

    const { rootAgent } = await load({ strict, warn: (message) => warnings.push(message) }).loadAgent('app');

    expect(rootAgent.name).toBe('my agent.v-2');
    expect(warnings).toEqual([
      expect.stringContaining('app/root_agent.yaml:1:1: "name" "my agent.v-2" is not an identifier'),
    ]);
  }
});

it('reads files of other editors: byte order mark, Windows line ends, latin letters', async () => {
  const { path, load } = agentsDir({ 'app/root_agent.yaml': '\uFEFFname: a\r\ninstruction: x\r\n' });
  expect((await load().loadAgent('app')).rootAgent.name).toBe('a');

  writeFileSync(join(path, 'app/root_agent.yaml'), Buffer.from('name: a\ninstruction: Gr\xfc\xdfe\n', 'latin1'));
  expect((await load().loadAgent('app')).rootAgent.instruction).toBe('Gr\uFFFD\uFFFDe');
});
