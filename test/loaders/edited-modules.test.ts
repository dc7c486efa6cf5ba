import { registerHooks } from 'node:module';
import { expect, it, vi } from 'vitest';
import { agentsDir } from './agents-dir.ts';

/** The modules Node has read. */
const readByNode: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    readByNode.push(url);
    return nextLoad(url, context);
  },
});

type Files = Readonly<Record<string, string>>;

const agent = (expression: string, head = ''): string =>
  `${head}\nexport const rootAgent = { name: 'a', async *run() {}, probe: async () => (${expression}) };\n`;

/** What an app says of itself as Node runs its modules, and once each file has been edited. */
async function bothWays(files: Files): Promise<{ atFirst: unknown; edited: unknown }> {
  const { write, load } = agentsDir(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`app/${name}`, text])),
  );
  const loader = load();
  const app = await loader.loadAgent('app');
  const atFirst = await probe(app);

  for (const [name, text] of Object.entries(files))
    write(`app/${name}`, name.endsWith('.json') ? `${text}\n` : `${text}\n// edited`);
  await vi.waitFor(
    async () => {
      const again = await loader.loadAgent('app');
      expect(loader.failureOf('app')).toBeUndefined();
      expect(again === app).toBe(false);
    },
    { timeout: 5000, interval: 20 },
  );
  return { atFirst, edited: await probe(await loader.loadAgent('app')) };
}

async function probe({ rootAgent }: { rootAgent: object }): Promise<unknown> {
  if (!('probe' in rootAgent) || typeof rootAgent.probe !== 'function') throw new Error('The agent has no probe');
  return await rootAgent.probe();
}

const cases: Record<string, Files> = {
  'imports of every form': {
    'agent.ts': agent(
      '[a, c, ns.b, { a, c }, typeof d, [c].map((a) => a), `${c}`, { a: 1 }.a]',
      "import d, { a, b as c, type T } from './x.ts'; import * as ns from './x.ts'; const t: T = 1; import './y.ts'",
    ),
    'x.ts': "export type T = number; export const a = 'a', b: string = 'b'; export default function () {}",
    'y.ts': 'export {}',
  },
  'exports of every form': {
    'agent.ts': agent(
      "[Object.keys(x).toSorted(), x.default.name, x.a, x['odd name'], await x.f(), new x.C().v, { ...x }.a, x.all.p, x.p, x.fresh, x.e]",
      "import * as x from './x.ts'",
    ),
    'x.ts': [
      'export const { a, r: [e] } = { a: 1, r: [2] }',
      "let l = 'l'; export { l as 'odd name', l as fresh }",
      'export async function f(key = 1, { a: b, ...rest } = {}) { return [await g(), key, b, rest] }',
      'function g() { return 5 }',
      'export class C { v = 7; m(arg: number) { return arg } }',
      "export * as all from './y.ts'",
      "export * from './y.ts'",
      'export default () => 1',
    ].join('\n'),
    'y.ts': 'export const p = 9; export default 3; export const a = "hidden"',
  },
  'default exports': {
    'agent.ts': agent(
      '[a.name, b.name, c, d.name, e, f]',
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `import ${name} from './${name}.js';`).join(' '),
    ),
    'a.js': 'export default class {}',
    'b.js': 'export default function named() {}',
    'c.js': 'export default (1, 2)',
    'd.js': 'export /* why */ default\n  async () => {};',
    'e.js': 'const v = { e: 1 }\nexport { v as default }\n;[1].map(() => { v.e = 2 })',
    'f.js': "import e from './e.js'\nexport default e.e\n/* last */",
  },
  'live names': {
    'agent.ts': agent(
      '[before, count, (add(), count), ns.count, again]',
      [
        "import { add, count } from './x.ts'; import * as ns from './x.ts'; import { count as again } from './y.ts'",
        'const before = count',
      ].join('\n'),
    ),
    'x.ts': 'export let count = 0; export function add() { count += 1 }',
    'y.ts': "export { count } from './x.ts'",
  },
  'names that are hidden by others': {
    'agent.ts': agent(
      '[f(1), g({ x: 2 }), h(), k(), [...x], C.x, label()]',
      [
        "import { x } from './x.ts'",
        'const f = (x) => x, g = ({ x }) => x',
        'function h() { try { throw 3 } catch (x) { return x } }',
        'function k() { for (const x of [4]) return x }',
        'class C { static x = x; }',
        'function label() { x: for (;;) break x; return { x() { return x } }.x() }',
      ].join('\n'),
    ),
    'x.ts': "export const x = 'xyz'",
  },
  'statements without semicolons': {
    'agent.js': agent(
      '[a, s, t]',
      "import { f, list, tag } from './x.js'\nlet s = 1\nconst a = s\nf()\nconst b = s\nlist.push(b)\nlet t = list\ntag`x`\nimport { g } from './x.js'\n;[1].forEach(g)",
    ),
    'x.js':
      'export const list = []\nexport function f() { list.push(this === undefined) }\nexport const tag = f\nexport const g = (n) => list.push(n)',
  },
  circles: {
    'agent.ts': agent('[a(), b(), early]', "import { a } from './a.ts'; import { b, early } from './b.ts'"),
    'a.ts': "import { b } from './b.ts'; export function a() { return ['a', typeof b, name] } const name = 'A'",
    'b.ts':
      "import { a } from './a.ts'; export const b = () => ['b', ...a()]; export const early = typeof a; import './b.ts'",
  },
  'the order of evaluation, with top-level await': {
    'agent.ts': agent(
      'order',
      "import { order } from './order.ts'; import './one.ts'; import 'node:path'; import './two.ts'; order.push('agent')",
    ),
    'order.ts': 'export const order: string[] = []',
    'one.ts':
      "import { order } from './order.ts'; import './three.ts'; await new Promise((go) => setTimeout(go, 5)); order.push('one')",
    'two.ts': "import { order } from './order.ts'; import './one.ts'; order.push('two')",
    'three.ts': "import { order } from './order.ts'; order.push('three')",
  },
  'import()': {
    'agent.ts': agent(
      "[(await import('./x.ts')).x, (await load()).x, (await import(`./${'x'}.ts`, {})).x === (await load()).x, typeof (await import('node:fs')).readFileSync, (await import('./d.json', { with: { type: 'json' } })).default, await import('./nope.ts').catch((e) => e.code), await import('nope').catch((e) => e.code)]",
      "const load = () => import('./x.ts')",
    ),
    'x.ts': "import { y } from './y.ts'; export const x = { y }",
    'y.ts': 'export const y = 1',
    'd.json': '{ "d": 1 }',
  },
  'import.meta': {
    'agent.ts': agent(
      "[import.meta.url.replace(/.*\\/|\\?.*/g, ''), import.meta.dirname.endsWith('app'), import.meta.filename.slice(-12), import.meta.main, import.meta.resolve('./x.ts').replace(/.*\\/|\\?.*/g, ''), import.meta.resolve('node:fs'), Object.keys(import.meta)]",
    ),
  },
  'JSON, CommonJS and packages': {
    'agent.mjs': agent(
      '[d, c, named, typeof z.object, z === again, typeof readFileSync, fs.readFileSync === readFileSync]',
      "import d from './d.json' with { type: 'json' }; import c, { named } from './c.cjs'; import { z } from './lib/z.js'; import { z as again } from 'zod'; import fs, { readFileSync } from 'node:fs'",
    ),
    'd.json': '{ "d": 1 }',
    'c.cjs': "exports.named = 1; exports.other = require('./c2.cjs')",
    'c2.cjs': 'module.exports = { two: 2 }',
    'lib/z.js': "export * from 'zod'",
    'node_modules/zod/package.json': '{ "name": "zod", "type": "module", "exports": "./index.js" }',
    'node_modules/zod/index.js': 'export const z = { object() {} }',
  },
  'a module that is strict, without this, and ends in a comment': {
    'agent.js':
      agent(
        "[self, strict, typeof $m, '$m$'.length]",
        '#!/usr/bin/env node\nconst self = this; const strict = (function () { return this === undefined })()',
      ).trimStart() + '// the end',
  },
  'code that reads like a module': {
    'agent.ts': agent(
      '[text, re.source, tpl, o.import, o.export, deep.length]',
      'const text = \'import x from "y"\'; const re = /export default/; const tpl = `import(${1}) ${`export`}`; const o = { import: 1, export: 2 }; const deep = ' +
        Array.from({ length: 3000 }, (_, index) => `'${index}'`).join('+'),
    ),
  },
  'newer syntax': {
    'agent.ts': agent(
      'log',
      [
        'const log: unknown[] = []',
        "{ using held = { [Symbol.dispose]() { log.push('let go') } }; log.push(typeof held) }",
        'class A { #x = 1; static { log.push("static") } get x() { return this.#x } static accessor = 2 }',
        'log.push(new A().x, /[\\p{L}--[a-z]]/v.test("a"), 1_000n, { ...{ a: 1 } }.a ??= 2)',
        'label: for await (const v of [1]) { log.push(v); continue label }',
      ]
        .join('\n')
        .replace('{ ...{ a: 1 } }.a ??= 2', '1'),
    ),
  },
};

it.each(Object.entries(cases))('runs edited modules as Node ran them at first: %s', async (_, files) => {
  const { atFirst, edited } = await bothWays(files);

  expect(edited).toEqual(atFirst);
  const code = readByNode.splice(0).filter((url) => /\.m?[jt]s\?app-module/.test(url));
  expect(code.filter((url) => url.endsWith('.1'))).not.toEqual([]);
  expect(code.filter((url) => !url.endsWith('.1'))).toEqual([]);
});
