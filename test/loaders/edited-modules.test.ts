import { expect, it, vi } from 'vitest';
import { agentsDir, yamlAgent } from './agents-dir.ts';

type Loader = ReturnType<ReturnType<typeof agentsDir>['load']>;

/** What the app's agent says of itself. */
async function probe(loader: Loader): Promise<unknown> {
  const { rootAgent } = await loader.loadAgent('app');
  if (!('probe' in rootAgent) || typeof rootAgent.probe !== 'function') throw new Error('The agent has no probe');
  return await rootAgent.probe();
}

const agent = (expression: string, imports = ''): string =>
  `${imports}\nexport const rootAgent = { name: 'a', async *run() {}, probe: async () => (${expression}) };\n`;

it('runs an edited module that calls eval', async () => {
  const calculator = (note: string): string =>
    agent("[twice(eval('1 + 1')), note]", `import { twice } from './twice.ts'; const note: string = '${note}';`);
  const { write, load } = agentsDir({
    'app/agent.ts': calculator('before'),
    'app/twice.ts': 'export const twice = (value: number): number => value * 2;',
  });
  const loader = load();
  expect(await probe(loader)).toEqual([4, 'before']);

  write('app/agent.ts', calculator('after'));

  await vi.waitFor(async () => expect(await probe(loader)).toEqual([4, 'after']), 5000);
});

it.each(['d.json', 'c.cjs', 'c2.cjs', 'late.ts', 'deep.ts'])(
  'runs what uses %s anew once it is edited',
  async (edited) => {
    const files = (value: number): Record<string, string> => ({
      'd.json': `{ "value": ${value} }`,
      'c.cjs': `const two = require('./c2.cjs'); exports.value = ${value}; exports.two = two.value;`,
      'c2.cjs': `exports.value = ${value};`,
      'late.ts': `export const value: number = ${value};`,
      'deep.ts': `export const value: number = ${value};`,
    });
    const { write, load } = agentsDir({
      ...Object.fromEntries(Object.entries(files(1)).map(([name, text]) => [`app/${name}`, text])),
      'app/between.ts': "export { value } from './deep.ts';",
      'app/agent.ts': agent(
        "[d.value, c.value, c.two, (await import('./late.ts')).value, value]",
        "import d from './d.json' with { type: 'json' }; import c from './c.cjs'; import { value } from './between.ts'",
      ),
    });
    const loader = load();
    expect(await probe(loader)).toEqual([1, 1, 1, 1, 1]);

    write(`app/${edited}`, files(2)[edited] ?? '');

    const place = ['d.json', 'c.cjs', 'c2.cjs', 'late.ts', 'deep.ts'].indexOf(edited);
    const expected = [1, 1, 1, 1, 1].with(place, 2);
    await vi.waitFor(async () => expect(await probe(loader)).toEqual(expected), 5000);
  },
);

it('keeps a version that a run still uses, with what it imports late', async () => {
  const version = (name: string): string => agent(`['${name}', (await import('./late.ts')).late]`);
  const { write, load } = agentsDir({ 'app/agent.ts': version('v1'), 'app/late.ts': "export const late = 'late';" });
  const loader = load();
  const first = (await loader.loadAgent('app')).rootAgent as unknown as { probe: () => Promise<unknown> };
  write('app/agent.ts', version('v2'));
  await vi.waitFor(async () => expect(await probe(loader)).toEqual(['v2', 'late']), 5000);
  await loader.close();

  expect(await first.probe()).toEqual(['v1', 'late']);
});

it('says after many edits that a restart frees their memory', async () => {
  const { write, load } = agentsDir({ 'app/root_agent.yaml': yamlAgent('a0') });
  const said: string[] = [];
  const loader = load({ warn: (text) => said.push(text), costlyReloads: 2 });
  for (const name of ['a0', 'a1', 'a2']) {
    write('app/root_agent.yaml', yamlAgent(name));
    await vi.waitFor(async () => expect((await loader.loadAgent('app')).rootAgent.name).toBe(name), 5000);
  }

  expect(said).toEqual([expect.stringMatching(/^2 edits were loaded\. .* restart/)]);
});
