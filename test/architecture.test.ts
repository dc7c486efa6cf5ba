import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';

/** What stands for index.ts and main.ts, which lie in no folder. */
const entry = '(entry)';

/**
 * The floors of src, lowest first. A file may import from its own folder and from floors below. Folders inside of a
 * folder are on its floor; a test below orders them.
 */
const floors: readonly (readonly string[])[] = [
  ['base'],
  ['schemas'],
  ['core'],
  ['models', 'tools', 'services', 'plugins', 'telemetry', 'a2a', 'code', 'identity'],
  ['agents'],
  ['runner', 'loaders'],
  ['runs'],
  ['evaluation'],
  ['http'],
  ['app'],
  ['cli', 'server', 'testing'],
  [entry],
];
/** Packages that are vocabulary rather than an adapter: they may appear in any folder. */
const everywhere = new Set(['zod', 'yaml', 'pino']);

/** The one import against the order: SQLite's writer thread runs the writes of all stores. */
const exception = 'services/sqlite/writes.ts';

const floorOf = (folder: string): number => floors.findIndex((floor) => floor.includes(folder));
const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : entry);

const files = globSync('src/**/*.ts').map((path) => posix.relative('src', path));
const sources = new Map(files.map((file) => [file, readFileSync(`src/${file}`, 'utf8')]));
const specifiersOf = (file: string): string[] =>
  [...sources.get(file)!.matchAll(/^(?:import|export)\s[^'"]*?from\s*'([^']+)'|import\s*\(?\s*'([^']+)'/gm)].map(
    (match) => (match[1] ?? match[2])!,
  );
const importsOf = (file: string): string[] =>
  specifiersOf(file)
    .filter((path) => path.startsWith('.'))
    .map((path) => posix.join(posix.dirname(file), path));
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

it('imports only its own folder and lower floors', () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => folderOf(target) !== folderOf(file) && floorOf(folderOf(target)) >= floorOf(folderOf(file)))
      .map((target) => `${file} -> ${target}`),
  );
  expect(upward).toEqual([]);
});

it('gives every folder a floor', () => {
  expect([...new Set(files.map(folderOf))].filter((folder) => floorOf(folder) < 0)).toEqual([]);
});

it('keeps nothing but its entries outside of folders', () => {
  expect(files.filter((file) => !file.includes('/')).toSorted()).toEqual(['index.ts', 'main.ts']);
});

it('groups more than two dozen files by concept', () => {
  const sizes = Object.entries(Object.groupBy(files, (file) => posix.dirname(file)));
  expect(sizes.filter(([, inside = []]) => inside.length > 24).map(([folder]) => folder)).toEqual([]);
});

/** Throws an error that names the way round when there is one. */
function findCycle(nodes: Iterable<string>, targetsOf: (node: string) => Iterable<string>): void {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) throw new Error([...path, node].join(' -> '));
    if (done.has(node)) return;
    for (const target of targetsOf(node)) visit(target, [...path, node]);
    done.add(node);
  };
  for (const node of nodes) visit(node, []);
}

it('has no import cycles, type imports included', () => {
  expect(() => findCycle(files, importsOf)).not.toThrow();
});

it('has no cycles between a folder and the folders and files around it', () => {
  const nodeOf = (file: string): string => (file.split('/').length > 2 ? posix.dirname(file) : file);
  const targets = new Map<string, Set<string>>();
  for (const file of files) {
    const node = nodeOf(file);
    const known = targets.get(node) ?? new Set();
    targets.set(node, known);
    if (file === exception) continue;
    for (const target of importsOf(file)) if (nodeOf(target) !== node) known.add(nodeOf(target));
  }
  expect(() => findCycle(targets.keys(), (node) => targets.get(node) ?? [])).not.toThrow();
});

it('keeps every file under 400 lines', () => {
  const authored = globSync(['src/**/*.ts', 'dev-ui/**/*.{js,ts,tsx,css}', 'agents/**/*.ts', 'bench/**/*.ts'], {
    exclude: (path) => path.includes('node_modules') || path.includes('dist'),
  });
  expect(authored.filter((file) => readFileSync(file, 'utf8').split('\n').length > 400)).toEqual([]);
});

it('imports each third-party package from one folder only', () => {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    for (const specifier of specifiersOf(file)) {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) continue;
      const name = packageOf(specifier);
      if (everywhere.has(name)) continue;
      folders.set(name, (folders.get(name) ?? new Set()).add(folderOf(file)));
    }
  }
  expect(
    [...folders].filter(([, where]) => where.size > 1).map(([name, where]) => `${name}: ${[...where].join(', ')}`),
  ).toEqual([]);
});
