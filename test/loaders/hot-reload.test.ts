import { expect, it, vi } from 'vitest';
import type { App } from '../../src/core/runtime.ts';
import { agentsDir, agentSource, failureOf, yamlAgent } from './agents-dir.ts';

const nameOf = async (app: Promise<App>): Promise<string> => (await app).rootAgent.name;
/** An edit is seen within a second; here it is asked for until it is. */
const soon = { timeout: 1000, interval: 20 };
/** What the code of an agent left behind. */
const traces = globalThis as { closed?: string[]; keptRuns?: number; sharedClosed?: boolean };

it('runs edited TypeScript and YAML at the next request', async () => {
  const { write, load } = agentsDir({ 'code/agent.ts': agentSource('one'), 'yaml/root_agent.yaml': yamlAgent('one') });
  const loader = load();
  expect([await nameOf(loader.loadAgent('code')), await nameOf(loader.loadAgent('yaml'))]).toEqual(['one', 'one']);

  write('code/agent.ts', agentSource('two'));
  write('yaml/root_agent.yaml', yamlAgent('two'));

  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('code'))).toBe('two'), soon);
  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('yaml'))).toBe('two'), soon);
});

it('tells when an edit was loaded', async () => {
  const { write, load } = agentsDir({ 'code/agent.ts': agentSource('one') });
  const loader = load();
  await loader.loadAgent('code');
  expect(loader.reloadsOf?.('code')).toEqual([]);

  const before = Date.now() / 1_000;
  write('code/agent.ts', agentSource('two'));
  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('code'))).toBe('two'), soon);

  const [at, ...more] = loader.reloadsOf?.('code') ?? [];
  expect(more).toEqual([]);
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now() / 1_000);
});

it('sees edits of everything the app is made of, and keeps unchanged modules', async () => {
  const { write, load } = agentsDir({
    'code/agent.ts': "import { name } from './a.ts';\nexport const rootAgent = { name, async *run() {} };\n",
    'code/a.ts': "import { b } from './lib/b.ts';\nimport './kept.ts';\nexport const name: string = 'a' + b;\n",
    'code/lib/b.ts': "export const b = '1';\n",
    'code/kept.ts': 'globalThis.keptRuns = (globalThis.keptRuns ?? 0) + 1; export {};\n',
    'yaml/root_agent.yaml': 'agent_class: SequentialAgent\nname: root\nsub_agents: [{ config_path: sub/a.yaml }]\n',
    'yaml/sub/a.yaml': yamlAgent('a1'),
  });
  const loader = load();
  const subOf = async (): Promise<unknown> => (await loader.loadAgent('yaml')).rootAgent.subAgents?.[0]?.name;
  expect([await nameOf(loader.loadAgent('code')), await subOf()]).toEqual(['a1', 'a1']);

  write('code/lib/b.ts', "export const b = '2';\n");
  write('yaml/sub/a.yaml', yamlAgent('a2'));

  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('code'))).toBe('a2'), soon);
  await vi.waitFor(async () => expect(await subOf()).toBe('a2'), soon);
  expect(traces.keptRuns).toBe(1);
});

it('notices new and removed apps', async () => {
  const { write, remove, load } = agentsDir({ 'old/agent.ts': agentSource('old') });
  const loader = load();
  await loader.loadAgent('old');

  write('new/agent.ts', agentSource('new'));
  remove('old');

  expect(await loader.listAgents()).toEqual(['new']);
  expect(await nameOf(loader.loadAgent('new'))).toBe('new');
  await vi.waitFor(async () => expect((await failureOf(loader, 'old')).code).toBe('app_not_found'), soon);
});

it('notices the file that was missing, and an agent of another language', async () => {
  const { write, remove, load } = agentsDir({ 'app/agent.ts': "export { rootAgent } from './made.ts';" });
  const loader = load();
  await failureOf(loader, 'app');

  write('app/made.ts', agentSource('made'));
  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('app'))).toBe('made'), soon);

  remove('app/agent.ts');
  write('app/root_agent.yaml', yamlAgent('yaml'));
  await vi.waitFor(async () => expect(await loader.loadAgent('app')).toMatchObject({ language: 'yaml' }), soon);
});

it('serves the last version that worked while a new one is broken, and says what is wrong', async () => {
  const { write, load } = agentsDir({
    'code/agent.ts': agentSource('good'),
    'yaml/root_agent.yaml': yamlAgent('good'),
  });
  const warnings: string[] = [];
  const loader = load({ warn: (message) => warnings.push(message) });
  await loader.loadAgent('code');
  await loader.loadAgent('yaml');

  write('code/agent.ts', 'export const rootAgent = {');
  write('yaml/root_agent.yaml', 'name: [');

  await vi.waitFor(async () => {
    expect(await nameOf(loader.loadAgent('code'))).toBe('good');
    expect(await nameOf(loader.loadAgent('yaml'))).toBe('good');
    expect(loader.failureOf('code')?.message).toMatch(/^code\/agent.ts:1: SyntaxError/);
    expect(loader.failureOf('yaml')?.message).toMatch(/^yaml\/root_agent.yaml:1:/);
  }, soon);
  expect(warnings.filter((text) => text.includes('the last version that worked is served'))).toHaveLength(2);

  write('code/agent.ts', agentSource('better'));
  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('code'))).toBe('better'), soon);
  expect(loader.failureOf('code')).toBeUndefined();
});

it('changes nothing when hot reload is off', async () => {
  const { write, load } = agentsDir({ 'code/agent.ts': agentSource('one') });
  const loader = load({ hotReload: false });
  const first = await loader.loadAgent('code');

  write('code/agent.ts', agentSource('two'));
  await new Promise((resolve) => void setTimeout(resolve, 300));

  expect(await loader.loadAgent('code')).toBe(first);
});

it('closes a replaced app once its last run is over, and not before', async () => {
  const closing = (name: string): string =>
    agentSource(name, `async close() { (globalThis.closed ??= []).push('${name}'); }`);
  const { write, load } = agentsDir({ 'code/agent.ts': closing('v1') });
  const loader = load();
  const first = await loader.loadAgent('code');
  const [release, releaseToo] = [loader.retain(first), loader.retain(first)];

  write('code/agent.ts', closing('v2'));
  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('code'))).toBe('v2'), soon);
  release();
  expect(traces.closed).toBeUndefined();
  releaseToo();
  await vi.waitFor(() => expect(traces.closed).toEqual(['v1']), soon);

  await loader.close();
  expect(traces.closed).toEqual(['v1', 'v2']);
});

it('leaves a toolset open that the new version uses as well', async () => {
  const using = (name: string): string =>
    `import { shared } from './shared.ts';\n${agentSource(name, 'tools: [shared], close: () => shared.close()')}`;
  const { write, load } = agentsDir({
    'code/agent.ts': using('v1'),
    'code/shared.ts':
      "export const shared = { kind: 'toolset', async getTools() { return []; }, async close() { globalThis.sharedClosed = true; } };",
  });
  const loader = load();
  await loader.loadAgent('code');

  write('code/agent.ts', using('v2'));
  await vi.waitFor(async () => expect(await nameOf(loader.loadAgent('code'))).toBe('v2'), soon);
  expect(traces.sharedClosed).toBeUndefined();

  write('code/agent.ts', agentSource('v3'));
  await vi.waitFor(async () => {
    await loader.loadAgent('code');
    expect(traces.sharedClosed).toBe(true);
  }, soon);
});
