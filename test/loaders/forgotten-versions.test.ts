import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { agentsDir } from './agents-dir.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const agent = (version: number): string =>
  [
    "import { readFileSync } from 'node:fs';",
    "import { made } from './made.ts';",
    'const late = async (): Promise<unknown> => await import("./late.ts");',
    `await late();`,
    `export const rootAgent = { name: made(${version}), read: readFileSync, url: import.meta.url, late, async *run() {} };`,
  ].join('\n');
const made = 'export const made = (version: number): string => `v${version}`;\n';

it('keeps nothing of versions that no run uses any more', async () => {
  const files = { 'app/agent.ts': agent(0), 'app/made.ts': made, 'app/late.ts': "export const name = 'late';" };
  const { write, load } = agentsDir(files);
  const loader = load();
  await loader.loadAgent('app');
  const versions: WeakRef<{ name: string }>[] = [];
  const edit = async (version: number): Promise<void> => {
    write('app/agent.ts', agent(version));
    if (version % 2 === 0) write('app/made.ts', `${made}// ${version}`);
    await vi.waitFor(async () => {
      const { rootAgent } = await loader.loadAgent('app');
      expect(rootAgent.name).toBe(`v${version}`);
      versions.push(new WeakRef<{ name: string }>(rootAgent));
    }, 5000);
  };
  for (let version = 1; version <= 6; version += 1) await edit(version);
  const held = (await loader.loadAgent('app')).rootAgent;

  await vi.waitFor(() => {
    collectGarbage();
    expect(versions.map((version) => version.deref()?.name)).toEqual([...Array<undefined>(5), held.name]);
  }, 10_000);
});

it('keeps a version that a run still uses, whole', async () => {
  const { write, load } = agentsDir({
    'app/agent.ts': agent(0),
    'app/made.ts': made,
    'app/late.ts': "export const name = 'late';",
  });
  const loader = load();
  await loader.loadAgent('app');
  const versionOf = async (version: number): Promise<{ name: string; late?: () => Promise<unknown> }> => {
    write('app/agent.ts', agent(version));
    return await vi.waitFor(async () => {
      const { rootAgent } = await loader.loadAgent('app');
      expect(rootAgent.name).toBe(`v${version}`);
      return rootAgent;
    }, 5000);
  };
  const first = await versionOf(1);
  await versionOf(2);
  await loader.close();
  collectGarbage();

  expect(first.name).toBe('v1');
  expect(Object.keys((await first.late?.()) ?? {})).toEqual(['name']);
});
