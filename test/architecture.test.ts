import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';

/** The floors of src, lowest first. A file may import from its own folder and from floors below. */
const floors = [
  ['base'],
  ['schemas'],
  ['core'],
  ['models', 'tools', 'services', 'plugins', 'telemetry', 'a2a', 'code'],
  ['agents'],
  ['runner', 'loaders'],
  ['evaluation'],
  ['http'],
  ['app'],
];
/** Packages that are vocabulary rather than an adapter: they may appear in any folder. */
const everywhere = new Set(['zod', 'yaml', 'pino']);

const floorOf = (folder: string): number => floors.findIndex((floor) => floor.includes(folder));
const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : 'app');

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

it('has no import cycles, type imports included', () => {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) throw new Error([...path, file].join(' -> '));
    if (done.has(file)) return;
    for (const target of importsOf(file)) visit(target, [...path, file]);
    done.add(file);
  };
  expect(() => files.forEach((file) => visit(file, []))).not.toThrow();
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
