import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compiledFolders } from '../../src/loaders/compiled.ts';
import { DirectoryLoader } from '../../src/loaders/directory-loader.ts';
import { agentsDir, agentSource, failureOf } from './agents-dir.ts';

it('takes each app from its build output, and runs the source where there is none', async () => {
  const { path } = agentsDir({
    'src/central/agent.ts': agentSource('source'),
    'dist/central/agent.js': agentSource('built'),
    'src/own/agent.ts': agentSource('source'),
    'src/own/build/agent.js': agentSource('built'),
    'src/plain/agent.ts': agentSource('source'),
    'dist/only_built/agent.js': agentSource('built'),
  });
  const find = compiledFolders({ sourceDir: join(path, 'src'), buildOutputDirs: [join(path, 'dist'), 'build'] });
  const loader = new DirectoryLoader({ find });

  expect(await loader.listAgents()).toEqual(['central', 'only_built', 'own', 'plain']);
  const names = ['central', 'only_built', 'own', 'plain'].map(
    async (app) => (await loader.loadAgent(app)).rootAgent.name,
  );
  expect(await Promise.all(names)).toEqual(['built', 'built', 'built', 'source']);
  expect((await failureOf(loader, 'none')).code).toBe('app_not_found');
  await loader.close();
});

it('looks into the usual folders of builds', () => {
  const { path } = agentsDir({
    'a/agent.ts': '',
    'a/out/agent.js': '',
    'dist/b/agent.js': '',
    'b/agent.ts': '',
    'lib/agent.ts': '',
  });
  const find = compiledFolders({ sourceDir: path });

  expect(find.list().map(({ name, entry }) => [name, entry.slice(path.length)])).toEqual([
    ['a', '/a/out/agent.js'],
    ['b', '/dist/b/agent.js'],
  ]);
});
