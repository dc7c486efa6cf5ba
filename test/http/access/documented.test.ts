import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../src/http/openapi/document.ts';
import { knowingServer } from './scene.ts';

it('is documented: which role each operation needs', async () => {
  const { call } = await knowingServer();
  const { paths } = JSON.parse((await call('all', 'GET /openapi.json')).text) as OpenApiDocument;
  const rows = new Map<string, Set<string>>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const { tags, description, security, 'x-required-role': role } of Object.values(methods)) {
      if (description?.startsWith('The same as')) continue;
      const needs = role ? `\`${role}\`` : security?.length === 0 ? 'no credential' : 'any';
      const row = `| ${tags[0] ?? ''} | ${needs} |`;
      rows.set(row, (rows.get(row) ?? new Set()).add(`\`${path}\``));
    }
  }
  const table = [...rows].map(([row, where]) => `${row} ${[...where].toSorted().join(', ')} |`).toSorted();
  const document = readFileSync('docs/security.md', 'utf8');
  const documented = /^\| operations \| role \| paths \|\n\|[-|]+\|\n((?:\|.*\n)+)/m
    .exec(document)?.[1]
    ?.trim()
    .split('\n');

  expect(documented).toEqual(table);
});
