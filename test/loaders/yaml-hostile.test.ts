import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { App } from '../../src/core/runtime.ts';
import { agentsDir } from './agents-dir.ts';

const everyKey = `# every kind of key
name: root
agent_class: LlmAgent
model: scripted
description: "Knows: a lot"
instruction: |
  Be brief.
  Say {topic?}.
generate_content_config:
  temperature: 0.5
  stop_sequences: [a, b]
  labels: { team_name: x }
  safety_settings:
    - category: HARM_CATEGORY_HARASSMENT
      threshold: BLOCK_NONE
output_schema: { type: object, properties: { my_key: { type: string } } }
planner: { name: BuiltInPlanner, args: { thinking_config: { thinking_budget: 5 } } }
include_contents: none
max_steps: 3
sub_agents:
  - config_path: sub/child.yaml
  - code: helper
tools:
  - google_search
  - name: AgentTool
    args: { agent: { config_path: ./sub/child.yaml }, skip_summarization: true }
  - name: ExampleTool
    args: { examples: [{ input: { role: user, parts: [{ text: hi }] }, output: [{ role: model, parts: [{ text: ho }] }] }] }
  - name: McpToolset
    args:
      streamable_http_connection_params: { url: 'http://127.0.0.1:9/mcp', headers: { x_key: y } }
      tool_filter: [read]
before_agent_callbacks: [{ name: note }]
script:
  - match: weather
    text: sunny
`;
const loop = 'name: root\nagent_class: LoopAgent\nmax_iterations: 2\nsub_agents:\n  - sub/child.yaml\n';
const remote = 'name: root\nagent_class: RemoteA2aAgent\nagent_card: http://127.0.0.1:9\ntimeout: 5\n';
const samples = [
  everyKey,
  loop,
  remote,
  ...['greeter', 'report_pipeline'].map((app) => readFileSync(`agents/${app}/root_agent.yaml`, 'utf8')),
];

const scalars = [
  'null',
  '~',
  '[]',
  '{}',
  '5',
  '-1',
  '1e309',
  '.nan',
  'yes',
  '2001-01-01',
  '""',
  '"\\0"',
  "'",
  '"',
  '*x',
  '&x y',
  '!!js/function "x"',
  '!!python/object:os.system x',
  '!!binary x',
  '../../secret.yaml',
  '/etc/passwd',
  'file:///etc/passwd',
  'C:\\\\x',
  '../evil.ts',
  'evil.ts',
  'process.exit',
  'node:fs',
  '__proto__',
  'constructor',
  'root_agent.yaml',
  'x'.repeat(5_000),
  '\u202e',
  '\ud83d\ude00',
  '[[[[[[[[',
  '{a: {b: {c: ',
  '{ name: evil }',
  '{ config_path: ../../secret.yaml }',
  '{ code: evil.run }',
  '- - -',
  '|',
  '>',
  '%TAG',
  '---',
  '...',
  '? x',
];
const keys = [
  'name',
  '__proto__',
  'constructor',
  'toString',
  'sub_agents',
  'subAgents',
  'tools',
  'model_code',
  'planner',
  'agent_class',
  'agent_card',
  'instructions',
  '<<',
  '*x',
  '[1]',
  '""',
];
const pieces = [
  '\t',
  '\u0000',
  '\ufeff',
  '\r',
  ': ',
  '- ',
  '#',
  '&a [*a]',
  '<<: *a',
  '{',
  ']',
  '"',
  "'",
  '\n---\n',
  `\n${'  '.repeat(200)}x: 1\n`,
  '['.repeat(3_000),
];

const edit = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('put' as const), at: fc.nat(), text: fc.constantFrom(...pieces) }),
  fc.record({ kind: fc.constant('value' as const), at: fc.nat(), text: fc.constantFrom(...scalars) }),
  fc.record({ kind: fc.constant('key' as const), at: fc.nat(), text: fc.constantFrom(...keys) }),
  fc.record({ kind: fc.constantFrom('drop' as const, 'twice' as const, 'indent' as const), at: fc.nat() }),
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function edited(text: string, one: Edit): string {
  if (one.kind === 'cut') return text.slice(0, one.at % (text.length + 1));
  if (one.kind === 'put') {
    const at = one.at % (text.length + 1);
    return text.slice(0, at) + one.text + text.slice(at);
  }
  const lines = text.split('\n');
  const at = one.at % lines.length;
  const line = lines[at] ?? '';
  const changed: Readonly<Record<typeof one.kind, () => string[]>> = {
    drop: () => [],
    twice: () => [line, line],
    indent: () => [` ${line}`],
    value: () => [line.replace(/(?<=:\s).*|(?<=-\s).*|$/, () => ` ${'text' in one ? one.text : ''}`)],
    key: () => [line.replace(/[\w"]+(?=:)|$/, () => ('text' in one ? one.text : ''))],
  };
  lines.splice(at, 1, ...changed[one.kind]());
  return lines.join('\n');
}

const dir = () =>
  agentsDir({
    'app/sub/child.yaml': 'name: child\nmodel: scripted\ninstruction: x\n',
    'app/registry.js': `export const helper = { name: 'helper', async *run() {} };\nexport const note = () => undefined;\n`,
    'app/evil.ts': 'globalThis.evilRan = true;\nexport const run = () => {};\n',
    'secret.yaml': 'name: hidden_treasure\ninstruction: x\n',
  });

it('loads what is left of a file, or names the file, the line and the reason, whatever was done to it', async () => {
  const { path, write, load } = dir();
  const outcomes = { loaded: 0, refused: 0 };

  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...samples), fc.array(edit, { maxLength: 3 }), async (sample, edits) => {
      write('app/root_agent.yaml', edits.reduce(edited, sample));
      const outcome = await load()
        .loadAgent('app')
        .catch((error: unknown) => error as Error & { code: string });

      outcomes[outcome instanceof Error ? 'refused' : 'loaded'] += 1;
      expect(faultsOf(outcome, path)).toEqual([]);
    }),
    { numRuns: 400 },
  );

  expect(outcomes.loaded).toBeGreaterThan(40);
  expect(outcomes.refused).toBeGreaterThan(120);
  expect('evilRan' in globalThis).toBe(false);
});

it('loads the samples as they are', async () => {
  const { write, load } = dir();

  for (const sample of samples.slice(0, 3)) {
    write('app/root_agent.yaml', sample);
    expect((await load().loadAgent('app')).rootAgent.name).toBe('root');
  }
});

/** What is wrong with how the file was dealt with. */
function faultsOf(outcome: App | (Error & { code: string }), path: string): string[] {
  const told = outcome instanceof Error ? outcome.message : namesIn(outcome).join('\n');
  const leaks = [path, 'hidden_treasure'].filter((secret) => told.includes(secret)).map((secret) => `tells ${secret}`);
  if (!(outcome instanceof Error)) return leaks;
  const vague = told.split('\n').filter((line) => !/^(?:app\/[\w/.]+:\d+:\d+: [^]{3,}|and \d+ more)$/.test(line));
  return [...leaks, ...vague, ...(outcome.code === 'ConfigurationException' ? [] : [outcome.code])];
}

function namesIn({ rootAgent }: App): string[] {
  const below = (agent: App['rootAgent']): string[] => [agent.name, ...(agent.subAgents ?? []).flatMap(below)];
  return below(rootAgent);
}
