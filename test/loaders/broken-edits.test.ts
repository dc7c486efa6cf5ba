import { expect, it, vi } from 'vitest';
import { agentsDir, agentSource, failureOf } from './agents-dir.ts';

const broken: Record<string, Readonly<Record<string, string>>> = {
  'TypeScript syntax': { 'agent.ts': 'const a = 1;\nconst b = (;\n' },
  'JavaScript syntax': {
    'agent.js': "import './x.js'; export {};",
    'x.js': 'export const a = 1;\nexport const x = ;\n',
  },
  'what needs a compiler': { 'agent.ts': '\n\nenum X { A }\n' },
  'an error while it runs': {
    'agent.ts': 'function f(): never {\n  throw new TypeError("bad thing");\n}\nf();\nexport {};',
  },
  'an error in an imported file': {
    'agent.ts': "import { x } from './lib/x.ts';\nexport const rootAgent = x();",
    'lib/x.ts': '\n\nexport const x = () => {\n  return undefined.y; };',
  },
  'a name used before it is there': {
    'agent.ts': "import { a } from './a.ts'; export const b = 1;",
    'a.ts': "import { b } from './agent.ts';\nexport const a = b;",
  },
  'something thrown that is no error': { 'agent.ts': 'throw "text"; export {};' },
  'a missing file': { 'agent.ts': 'import "./nope.ts";\nexport {};' },
  'a missing package': { 'agent.ts': 'import "nope-pkg"; export {};' },
  'a missing export': { 'agent.ts': "\n  import { a, b } from './x.ts';", 'x.ts': 'export const a = 1;' },
  'a missing export that is passed on': { 'agent.ts': "export {\n b } from './x.ts';", 'x.ts': 'export const a = 1;' },
  'a missing default export': { 'agent.ts': "import x from './x.ts'; export { x };", 'x.ts': 'export const a = 1;' },
  'a missing export of a package': { 'agent.ts': "import { nope } from 'node:fs'; export { nope };" },
  'an unknown import attribute': { 'agent.ts': "import x from './x.json'; export { x };", 'x.json': '{}' },
  'JSON that is none': {
    'agent.ts': "import x from './x.json' with { type: 'json' }; export { x };",
    'x.json': '{ "a": }',
  },
  'no agent': { 'agent.ts': 'export const agent = 1, root = 2;' },
};

/** Imported names are longer where modules run as functions, so that what follows them on a line is further right. */
const withoutColumn = (message?: string): string | undefined => message?.replace(/^(\S+?:\d+):\d+:/, '$1:');

it.each(Object.entries(broken))('says of a broken edit what it says of a broken app: %s', async (_, files) => {
  const entry = 'agent.ts' in files ? 'agent.ts' : 'agent.js';
  const { write, load } = agentsDir({ [`app/${entry}`]: agentSource('good') });
  const loader = load();
  await loader.loadAgent('app');

  for (const [name, text] of Object.entries(files)) write(`app/${name}`, text);
  await vi.waitFor(async () => {
    expect((await loader.loadAgent('app')).rootAgent.name).toBe('good');
    expect(loader.failureOf('app')).toBeDefined();
  }, 5000);

  const { message, code } = await failureOf(load(), 'app');
  expect(withoutColumn(loader.failureOf('app')?.message)).toBe(withoutColumn(message));
  expect(loader.failureOf('app')?.code).toBe(code);
});
