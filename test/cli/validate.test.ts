import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOf, run } from '../support/program.ts';

const good = 'name: good\ninstruction: x\nmodel: gemini-3.5-flash\n';
const mixed = {
  'apps/good/root_agent.yaml': good,
  'apps/odd/root_agent.yaml': 'name: odd-one\ninstruction: x\ninstructions: y\nmodel: gemini-3.5-flash\n',
  'apps/bad/root_agent.yaml': 'name: bad\ninstruction: x\nmax_steps: many\noutput_key: 5\n',
  'apps/code/agent.ts': 'export const rootAgent = oops;\n',
  'apps/twins/root_agent.yaml': 'agent_class: SequentialAgent\nname: twins\nsub_agents: [one.yaml, two.yaml]\n',
  'apps/twins/one.yaml': 'agent_class: SequentialAgent\nname: one\nsub_agents: [leaf.yaml]\n',
  'apps/twins/two.yaml': 'agent_class: SequentialAgent\nname: two\nsub_agents: [leaf.yaml]\n',
  'apps/twins/leaf.yaml': 'name: leaf\ninstruction: x\n',
  'apps/snake/agent.py': '',
};

it('shows every fault and warning with its place, and ends with code 1', async () => {
  const { code, out } = await run(['validate', 'apps'], { cwd: folderOf(mixed) });

  expect(out).toContain('FAULT  bad\n  bad/root_agent.yaml:3:1: "max_steps" must be');
  expect(out).toContain('\n  bad/root_agent.yaml:4:1: "output_key" must be a text');
  expect(out).toContain('FAULT  code\n  code/agent.ts:1:26: ReferenceError: oops is not defined\n');
  expect(out).toContain('ok     good\n');
  expect(out).toContain('  warning: odd/root_agent.yaml:3:1: unknown key "instructions"');
  expect(out).toContain('ok     odd\n  warning: odd/root_agent.yaml:1:1: "name" "odd-one" is not an identifier');
  expect(out).toContain('FAULT  twins\n  twins/root_agent.yaml:3:1: Agent name "leaf" occurs twice below "twins"');
  expect(out).toContain('not an app: snake: Python agents cannot be run here\n');
  expect(out).toContain('5 apps, 3 with faults, 2 warnings\n');
  expect(code).toBe(1);
});

it('gives the same as JSON', async () => {
  const cwd = folderOf(mixed);

  const { code, out } = await run(['validate', '--json', 'apps'], { cwd });

  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    agents: join(cwd, 'apps'),
    apps: [
      {
        name: 'bad',
        ok: false,
        faults: [
          { file: 'bad/root_agent.yaml', line: 3, column: 1 },
          { file: 'bad/root_agent.yaml', line: 4, column: 1 },
        ],
        warnings: [],
      },
      { name: 'code', faults: [{ file: 'code/agent.ts', line: 1, column: 26 }] },
      { name: 'good', ok: true, faults: [], warnings: [] },
      { name: 'odd', ok: true, warnings: [{ line: 1 }, { line: 3 }] },
      { name: 'twins', faults: [{ file: 'twins/root_agent.yaml', line: 3 }] },
    ],
    hints: ['snake: Python agents cannot be run here'],
  });
  expect(code).toBe(1);
});

it('ends with code 0 when all is well, also for one app alone', async () => {
  const cwd = folderOf({ 'agents/good/root_agent.yaml': good });

  expect(await run(['validate'], { cwd })).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 app, 0') as string,
  });
  expect(await run(['validate', 'agents/good'], { cwd })).toMatchObject({ code: 0 });
});

it('takes unknown keys for faults when it is strict', async () => {
  const { code, out } = await run(['validate', 'apps', '--strict-yaml'], { cwd: folderOf(mixed) });

  expect(out).toContain('FAULT  odd\n  odd/root_agent.yaml:3:1: unknown key "instructions"');
  expect(code).toBe(1);
});

it('ends with code 1 where there is no app, and 2 where there is no folder', async () => {
  const cwd = folderOf({ 'empty/file': '' });

  expect(await run(['validate', 'empty'], { cwd })).toMatchObject({ code: 1 });
  expect(await run(['validate', 'nowhere'], { cwd })).toMatchObject({ code: 2 });
});

it('tells what an app will fail at when it runs: models, OpenAPI documents and programs', async () => {
  const llm = (name: string, more: string): string => `name: ${name}\ninstruction: x\n${more}`;
  const stdio = 'tools: [{ name: McpToolset, args: { stdio_server_params: { command: node } } }]\n';
  const cwd = folderOf({
    'apps/foo/root_agent.yaml': llm('foo', 'model: foo-bar\n'),
    'apps/heir/root_agent.yaml': llm('heir', 'model: gemini-3.5-flash\nsub_agents: [child.yaml]\n'),
    'apps/heir/child.yaml': llm('child', ''),
    'apps/mcp/root_agent.yaml': llm('mcp', `model: gemini-3.5-flash\n${stdio}`),
    'apps/none/root_agent.yaml': llm('none', ''),
    'apps/open/root_agent.yaml': llm(
      'open',
      `model: gemini-3.5-flash\ntools: [{ name: OpenAPIToolset, args: { spec_str: '{"openapi": 7', spec_str_type: json } }]\n`,
    ),
    'apps/script/root_agent.yaml': llm('script', 'script: [{ text: Hi }]\n'),
  });

  const { out, code } = await run(['validate', 'apps'], { cwd });

  expect(out).toContain('FAULT  foo\n  Agent "foo": Unsupported model "foo-bar"\n');
  expect(out).toContain('ok     heir\n');
  expect(out).toMatch(/FAULT {2}mcp\n {2}mcp\/root_agent\.yaml:4:9: .*ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS=1/);
  expect(out).toContain('FAULT  none\n  Agent "none" has no model, nor has any agent above it\n');
  expect(out).toMatch(/FAULT {2}open\n {2}Agent "open": .*OpenAPI/);
  expect(out).toContain('ok     script\n');
  expect(code).toBe(1);
  const allowed = await run(['validate', 'apps/mcp', '--allow-config-stdio-mcp-servers'], { cwd });
  expect(allowed.code).toBe(0);
});

it('tells of every name that the registry of an app does not have', async () => {
  const refs = `model: gemini-3.5-flash
tools:
  - name: roll_die
  - name: google_search
  - name: draw_card
before_agent_callbacks: [{ name: greet }, { name: log }]
output_schema: Answer
sub_agents: [child.yaml, { code: helper }]
`;
  const cwd = folderOf({
    'apps/game/root_agent.yaml': `name: game\ninstruction: x\n${refs}`,
    'apps/game/child.yaml': 'name: child\ninstruction: x\ntools: [{ name: spin }]\n',
  });

  const { out } = await run(['validate', '--json', 'apps'], { cwd });

  const { faults } = (JSON.parse(out) as { apps: { faults: { file: string; line: number; message: string }[] }[] })
    .apps[0]!;
  expect(faults.map(({ file, line, message }) => [file, line, /"(\w+)"/.exec(message)?.[1]])).toEqual([
    ['game/child.yaml', 3, 'spin'],
    ['game/root_agent.yaml', 5, 'roll_die'],
    ['game/root_agent.yaml', 7, 'draw_card'],
    ['game/root_agent.yaml', 8, 'greet'],
    ['game/root_agent.yaml', 8, 'log'],
    ['game/root_agent.yaml', 9, 'Answer'],
    ['game/root_agent.yaml', 10, 'helper'],
  ]);
});
