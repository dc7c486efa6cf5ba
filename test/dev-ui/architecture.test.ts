import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';

/** The floors of the web UI, lowest first: a file imports from its own folder and from floors below. */
const floors = ['parts', 'api', 'log', 'app', 'views', 'main.tsx'];
/** Floors that only know themselves. */
const alone = new Set(['parts', 'api']);

const files = globSync('dev-ui/src/**/*.{ts,tsx}').map((path) => posix.relative('dev-ui/src', path));
const floorOf = (file: string): string => file.split('/')[0]!;
/** A view is a folder of its own: views do not know each other. */
const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(0, floorOf(file) === 'views' ? 2 : 1)
    .join('/');

const imports = files.flatMap((file) =>
  [
    ...readFileSync(`dev-ui/src/${file}`, 'utf8').matchAll(
      /^import (type )?[^;]*?from '(\.[^']+)';|import\('(\.[^']+)'\)/gm,
    ),
  ].map(([, type, from, lazily]) => ({
    file,
    isType: type !== undefined,
    target: posix.join(posix.dirname(file), from ?? lazily!),
  })),
);

it('has floors in the web UI, too', () => {
  const upward = imports.filter(({ file, target }) => {
    if (target.startsWith('..') || folderOf(file) === folderOf(target)) return false;
    return alone.has(floorOf(file)) || floors.indexOf(floorOf(target)) >= floors.indexOf(floorOf(file));
  });
  expect(upward).toEqual([]);
});

it('takes types from the schemas of the server, and nothing else', () => {
  const outside = imports.filter(({ target }) => target.startsWith('..'));
  expect(outside.filter(({ isType, target }) => !isType || !target.startsWith('../../src/schemas/'))).toEqual([]);
});

it('gives every folder a floor', () => {
  expect([...new Set(files.map(floorOf))].filter((floor) => !floors.includes(floor))).toEqual([]);
});
