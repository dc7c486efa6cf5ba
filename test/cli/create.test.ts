import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOf, run } from '../support/program.ts';

it.each([
  [
    '--typescript',
    'agent.ts',
    'roll 3 dice',
    /-> roll_dice {"count":"?3"?}\n[^]*my-app\.v2|The dice show (\d, ){2}\d, which makes \d+\./,
  ],
  ['--yaml', 'root_agent.yaml', 'I am Ada', /Nice to meet you, Ada!/],
])('makes an app with %s that is valid and runs at once', async (flag, file, message, answer) => {
  const cwd = folderOf({});

  const made = await run(['create', 'my-app.v2', flag], { cwd });

  expect(made).toMatchObject({ code: 0, err: '' });
  expect(made.out).toContain('agent-server run my-app.v2\n');
  expect(readdirSync(join(cwd, 'agents/my-app.v2')).toSorted()).toEqual(['README.md', file]);
  expect(await run(['validate'], { cwd })).toMatchObject({
    code: 0,
    out: 'ok     my-app.v2\n1 app, 0 with faults, 0 warnings\n',
  });
  const said = await run(['run', 'my-app.v2', '--message', message], { cwd });
  expect(said.out).toMatch(answer);
  expect(said.code).toBe(0);
});

it('makes a TypeScript app where nobody can be asked, and names its README after it', async () => {
  const cwd = folderOf({});

  await run(['create', 'first'], { cwd });

  expect(readFileSync(join(cwd, 'agents/first/README.md'), 'utf8')).toContain('# first\n');
  expect(readFileSync(join(cwd, 'agents/first/agent.ts'), 'utf8')).toContain("name: 'first'");
});

it('leaves what is there alone', async () => {
  const cwd = folderOf({ 'agents/mine/agent.ts': 'precious', 'agents/file': '' });

  for (const name of ['mine', 'file']) {
    expect(await run(['create', name], { cwd })).toMatchObject({
      code: 2,
      err: expect.stringContaining('exists already') as string,
    });
  }
  expect(readFileSync(join(cwd, 'agents/mine/agent.ts'), 'utf8')).toBe('precious');
});

it.each(['../out', '/tmp/out', '.', '..', '.hidden', 'a/b', 'a\\b', 'user', 'node_modules', 'a b ', 'x'.repeat(65)])(
  'refuses the name %j',
  async (name) => {
    const cwd = folderOf({});

    const { code, err } = await run(['create', name], { cwd });

    expect(err).toContain(name);
    expect(code).toBe(2);
    expect(readdirSync(cwd)).toEqual([]);
  },
);

it.each([
  [['create'], 'Name the app'],
  [['create', 'x', '--yaml', '--typescript'], 'Choose one of'],
  [['create', 'x', '--agents', 'only'], 'is an app itself'],
])('ends with code 2 for %j', async (args, message) => {
  const { code, err } = await run(args, { cwd: folderOf({ 'only/root_agent.yaml': 'name: only\n' }) });

  expect(err).toContain(message);
  expect(code).toBe(2);
});
