import { expect, it } from 'vitest';
import { agentsDir, agentSource, failureOf } from './agents-dir.ts';

it('leaves other apps alone when one is broken', async () => {
  const { load } = agentsDir({ 'bad/agent.ts': 'throw new Error("no");', 'good/agent.ts': agentSource('good') });
  const loader = load();

  expect((await failureOf(loader, 'bad')).code).toBe('app_broken');
  expect((await loader.loadAgent('good')).rootAgent.name).toBe('good');
  expect(await loader.listAgents()).toEqual(['bad', 'good']);
  expect(loader.failureOf('bad')?.message).toContain('no');
  expect(loader.failureOf('good')).toBeUndefined();
});

it.each([
  ['TypeScript syntax', 'const a = 1;\nconst b = (;\n', 'bad/agent.ts:2:12: SyntaxError: Expression expected'],
  ['what needs a compiler', '\n\nenum X { A }\n', 'bad/agent.ts:3:1: SyntaxError: TypeScript enum is not supported'],
  [
    'an error while it runs',
    'function f(): never {\n  throw new TypeError("bad thing");\n}\nf();\nexport {};',
    'bad/agent.ts:2:9: TypeError: bad thing',
  ],
  ['something thrown that is no error', 'throw "text"; export {};', 'bad/agent.ts: the code threw text'],
  [
    'a missing file',
    'import "./nope.ts";',
    "bad/agent.ts: Cannot find module 'bad/nope.ts' imported from bad/agent.ts",
  ],
  [
    'a missing package',
    'import "nope-pkg";',
    "bad/agent.ts: Cannot find package 'nope-pkg' imported from bad/agent.ts",
  ],
  ['no export', 'export {};', 'bad/agent.ts: no export is called "rootAgent" or "app" (it exports nothing)'],
  ['other exports', 'export const agent = 1, root = 2;', '(it exports "agent", "root")'],
  [
    'an export that is no agent',
    'export const rootAgent = { name: "x" };',
    'the export "rootAgent" is neither an agent',
  ],
  ['a function that makes none', 'export const rootAgent = () => undefined;', 'the export "rootAgent" is neither an'],
])('names the place of %s', async (_, source, message) => {
  const { path, load } = agentsDir({ 'bad/agent.ts': source });

  const failure = await failureOf(load(), 'bad');

  expect(failure.message).toContain(message);
  expect(failure.message).not.toContain(path);
});

it('names the imported file a fault is in', async () => {
  const { load } = agentsDir({
    'ts/agent.ts': "import './deep/helper.ts';",
    'ts/deep/helper.ts': '\nexport const x = ;\n',
    'js/agent.js': "import './helper.js'; export {};",
    'js/helper.js': 'export const a = 1;\nexport const x = ;\n',
    'name/agent.ts': "import { missing } from './other.ts';\nexport const rootAgent = missing;",
    'name/other.ts': 'export const present = 1;',
  });
  const loader = load();

  expect((await failureOf(loader, 'ts')).message).toContain('ts/deep/helper.ts:2:18: SyntaxError');
  expect((await failureOf(loader, 'js')).message).toContain("js/helper.js:2: SyntaxError: Unexpected token ';'");
  expect((await failureOf(loader, 'name')).message).toContain(
    "name/agent.ts:1:10: SyntaxError: The requested module './other.ts'",
  );
});

it('does not run a broken app again while it is unchanged', async () => {
  const { load } = agentsDir({
    'bad/agent.js': 'globalThis.tries = (globalThis.tries ?? 0) + 1; throw new Error("no"); export {};',
  });
  const loader = load();

  const first = await failureOf(loader, 'bad');
  await new Promise((resolve) => void setTimeout(resolve, 250));
  const second = await failureOf(loader, 'bad');

  expect(second).toBe(first);
  expect((globalThis as { tries?: number }).tries).toBe(1);
});
