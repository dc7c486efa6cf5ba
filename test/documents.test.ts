import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';

const documents = globSync(['*.md', 'docs/*.md', 'bench/*.md', 'dev-ui/*.md']).map((path) => posix.normalize(path));
const textOf = (document: string): string => readFileSync(document, 'utf8');

/** Paths in backquotes that begin with a folder of this repository, such as `src/base/abort.ts` or `src/http/`. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test|bench|docs|dev-ui|schema|bin)\/[\w/.-]*)`/g)].map(([, path = '']) => path);

/** The names that a document says are in a file: those in brackets behind its path, each in backquotes of its own. */
const namesIn = (text: string): { path: string; name: string }[] =>
  [...text.matchAll(/`((?:src|dev-ui)\/[\w/.-]+)` \(((?:`[^`]+`(?:, )?)+)/g)].flatMap(([, path = '', names = '']) =>
    [...names.matchAll(/`([#\w]+)`/g)].map(([, name = '']) => ({ path, name })),
  );

/** Where the links of a document lead, those to other sites left out: a file and a heading. */
const linksIn = (text: string): { file: string; heading: string }[] =>
  [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(([, file = '', heading = '']) => ({
    file,
    heading,
  }));

/** The headings of a document as links name them. */
const headingsOf = (document: string): string[] =>
  [...textOf(document).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  );

it('names files and folders that exist', () => {
  const named = documents.flatMap((document) => pathsIn(textOf(document)).map((path) => ({ document, path })));

  expect(named.length).toBeGreaterThan(100);
  expect(
    named.filter(({ document, path }) => !existsSync(path) && !existsSync(posix.join(posix.dirname(document), path))),
  ).toEqual([]);
});

it('says of files only what they contain', () => {
  const named = namesIn(textOf('docs/architecture.md'));
  const contains = (path: string, name: string): boolean => new RegExp(`(?<!\\w)${name}\\b`).test(textOf(path));

  expect(named.length).toBeGreaterThan(150);
  expect(named.filter(({ path, name }) => !contains(path, name))).toEqual([]);
});

it('links to files and headings that exist', () => {
  const links = documents.flatMap((document) =>
    linksIn(textOf(document)).map(({ file, heading }) => ({
      document,
      target: file === '' ? document : posix.join(posix.dirname(document), file),
      heading,
    })),
  );

  expect(links.length).toBeGreaterThan(20);
  expect(links.filter(({ target }) => !existsSync(target))).toEqual([]);
  expect(links.filter(({ target, heading }) => heading !== '' && !headingsOf(target).includes(heading))).toEqual([]);
});

/** Each table of a document: the number of cells of each of its rows. `\|` inside of a cell is text. */
const tablesIn = (text: string): number[][] =>
  (text.match(/(?:^\|.*\n?)+/gm) ?? []).map((table) =>
    table
      .trim()
      .split('\n')
      .map((row) => row.match(/(?<!\\)\|/g)?.length ?? 0),
  );

it('has tables whose rows all have the cells of their head', () => {
  const tables = documents.flatMap((document) => tablesIn(textOf(document)).map((rows) => ({ document, rows })));

  expect(tables.length).toBeGreaterThan(30);
  expect(tables.filter(({ rows }) => rows.length < 3 || new Set(rows).size > 1)).toEqual([]);
});
