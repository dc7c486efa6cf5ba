import { afterEach, expect, it } from 'vitest';
import { agentsDir } from './agents-dir.ts';

const warnings: string[] = [];
const note = (warning: Error): void => void warnings.push(warning.message);
process.on('warning', note);
afterEach(() => void warnings.splice(0));

const esm = (imported: string): string =>
  `import { name } from '${imported}';\nexport const rootAgent = { name, async *run() {} };\n`;
const commonJs = "const { name } = require('./name.js');\nexports.rootAgent = { name, async *run() {} };\n";

it.each([
  ['no package.json', undefined],
  ['a package.json without "type"', '{ "name": "x" }'],
  ['"type": "commonjs", as npm init writes it', '{ "name": "x", "type": "commonjs" }'],
  ['"type": "module"', '{ "name": "x", "type": "module" }'],
])('loads TypeScript and JavaScript written as ES modules below %s', async (_, packageJson) => {
  const { load } = agentsDir({
    ...(packageJson !== undefined && { 'package.json': packageJson }),
    'ts/agent.ts': esm('./name.ts'),
    'ts/name.ts': "export const name: string = 'typed';",
    'js/agent.js': esm('./name.js'),
    'js/name.js': "export const name = 'plain';",
  });
  const loader = load();

  expect([(await loader.loadAgent('ts')).rootAgent.name, (await loader.loadAgent('js')).rootAgent.name]).toEqual([
    'typed',
    'plain',
  ]);
  expect(warnings).toEqual([]);
});

it('loads JavaScript written as CommonJS where the package is CommonJS', async () => {
  const { load } = agentsDir({
    'package.json': '{ "name": "x", "type": "commonjs" }',
    'app/agent.js': commonJs,
    'app/name.js': "// a comment that mentions\n// import { x } from 'y'\nexports.name = 'old';",
  });

  expect((await load().loadAgent('app')).rootAgent.name).toBe('old');
});
