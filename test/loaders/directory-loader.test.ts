import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { agentFolders } from '../../src/loaders/agent-folders.ts';
import { agentsDir, agentSource, failureOf, yamlAgent } from './agents-dir.ts';

it('lists the folders that hold an agent, sorted, and looks into no file', async () => {
  const { load } = agentsDir({
    'zoo/agent.js': 'this is no JavaScript',
    'ant/agent.ts': 'neither is this',
    'bee/root_agent.yaml': ': : :',
    'cat/agent.mjs': '',
    'cow/root_agent.yml': '',
    'empty/readme.txt': '',
    '.hidden/agent.ts': '',
    '__pycache__/agent.ts': '',
    'node_modules/agent.ts': '',
    'file.ts': '',
  });

  expect(await load().listAgents()).toEqual(['ant', 'bee', 'cat', 'cow', 'zoo']);
});

it('loads TypeScript, JavaScript and YAML apps, named after their folders', async () => {
  const { path, load } = agentsDir({
    'one/agent.ts': `const name: string = 'uno';\n${agentSource('x').replace('"x"', 'name')}`,
    'two/agent.js': agentSource('due'),
    'three/root_agent.yaml': yamlAgent('tre'),
    'three/README.md': '# Three\n',
  });
  const loader = load();

  expect(await loader.loadAgent('one')).toMatchObject({
    name: 'one',
    rootAgent: { name: 'uno' },
    language: 'typescript',
  });
  expect(await loader.loadAgent('two')).toMatchObject({ rootAgent: { name: 'due' }, language: 'javascript' });
  expect(await loader.loadAgent('three')).toMatchObject({
    name: 'three',
    rootAgent: { name: 'tre', kind: 'llm' },
    language: 'yaml',
    folder: join(path, 'three'),
    readme: '# Three\n',
  });
});

it('takes an app, a function that makes one, and a default export', async () => {
  const agent = "{ name: 'a', async *run() {} }";
  const { load } = agentsDir({
    'app/agent.js': `export const app = { name: 'else', rootAgent: ${agent}, plugins: [{ name: 'p' }] };`,
    'maker/agent.js': `export async function rootAgent() { return ${agent}; }`,
    'default/agent.js': `export default ${agent};`,
  });
  const loader = load();

  expect(await loader.loadAgent('app')).toMatchObject({ name: 'app', plugins: [{ name: 'p' }] });
  expect((await loader.loadAgent('maker')).rootAgent.name).toBe('a');
  expect((await loader.loadAgent('default')).rootAgent.name).toBe('a');
});

it('prefers the YAML where there is both, and code by its order', async () => {
  const { load } = agentsDir({
    'both/root_agent.yaml': yamlAgent('from_yaml'),
    'both/agent.ts': 'export const greeting = 1;',
    'code/agent.ts': agentSource('from_ts'),
    'code/agent.js': agentSource('from_js'),
  });
  const loader = load();

  expect((await loader.loadAgent('both')).rootAgent.name).toBe('from_yaml');
  expect((await loader.loadAgent('code')).rootAgent.name).toBe('from_ts');
});

it('serves a folder that is itself an app as the only one', async () => {
  const { path, load } = agentsDir({ 'agent.ts': agentSource('solo'), 'other/agent.ts': agentSource('other') });
  const loader = load();

  expect(await loader.listAgents()).toEqual([basename(path)]);
  expect((await loader.loadAgent(basename(path))).rootAgent.name).toBe('solo');
  expect((await failureOf(loader, 'other')).code).toBe('app_not_found');
});

it.each(['nope', '../x', '..', '.hidden', '', 'a/b', 'a\0b', '__proto__', 'constructor', 'toString'])(
  'knows no app %j',
  async (name) => {
    const { load } = agentsDir({ 'one/agent.js': agentSource('one'), '.hidden/agent.js': agentSource('hidden') });

    expect(await failureOf(load(), name)).toMatchObject({ code: 'app_not_found', message: `App not found: ${name}` });
  },
);

it('imports each app once, however many ask for it at the same time', async () => {
  const { load } = agentsDir({
    'one/agent.js': `globalThis.imported = (globalThis.imported ?? 0) + 1;\n${agentSource('one')}`,
  });
  const loader = load();

  const apps = await Promise.all(Array.from({ length: 20 }, () => loader.loadAgent('one')));

  expect(new Set(apps).size).toBe(1);
  expect((globalThis as { imported?: number }).imported).toBe(1);
});

it('follows no link out of the folder', async () => {
  const outside = agentsDir({ 'evil/agent.js': agentSource('evil'), 'evil.yaml': yamlAgent('evil') });
  const { path, load } = agentsDir({ 'good/agent.js': agentSource('good'), 'real/agent.js': agentSource('real') });
  symlinkSync(join(outside.path, 'evil'), join(path, 'linked'));
  mkdirSync(join(path, 'inner'));
  symlinkSync(join(outside.path, 'evil.yaml'), join(path, 'inner/root_agent.yaml'));
  symlinkSync(join(path, 'real'), join(path, 'alias'));
  const loader = load();

  expect(await loader.listAgents()).toEqual(['alias', 'good', 'real']);
  expect((await failureOf(loader, 'linked')).code).toBe('app_not_found');
  expect((await failureOf(loader, 'inner')).code).toBe('app_not_found');
  expect((await loader.loadAgent('alias')).rootAgent.name).toBe('real');
});

it('says why folders that look like apps are none', () => {
  const { path } = agentsDir({ 'snake/agent.py': '', 'pipe/root_agent.yaml/x': '' });
  symlinkSync('/', join(path, 'linked'));

  expect(agentFolders(path).hints()).toEqual([
    'linked: the link leads out of the agents folder',
    'pipe: root_agent.yaml is not a file',
    'snake: Python agents cannot be run here',
  ]);
});
