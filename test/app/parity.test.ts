import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const rows = readFileSync('docs/parity.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!specification)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const paths = (cell = ''): string[] =>
  [...cell.matchAll(/`([\w/.-]+(?:\.ts|\/|\.json))`/g)].map(([, path = '']) => path);

it('names places and tests that exist', () => {
  const named = rows.flatMap(([, , place, test]) => [...paths(place), ...paths(test)]);

  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((path) => !existsSync(`src/${path}`) && !existsSync(path))).toEqual([]);
});

it('leaves no row without a test or the work that brings it', () => {
  const open = rows.filter(([, , place, test]) => paths(test).length === 0 && !/to come|\(codes\)/.test(place ?? ''));

  expect(open).toEqual([]);
});
