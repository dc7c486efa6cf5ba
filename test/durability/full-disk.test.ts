import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { mayMount, namespace } from './namespace.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isAllowed = mayMount(folder);
if (!isAllowed) console.log('skipped: this machine lets no program mount a small disk');

it.skipIf(!isAllowed)('refuses what a full disk has no room for, reads on, and serves again when there is room', () => {
  const program = new URL('full-disk-program.ts', import.meta.url).pathname;

  const { stdout, stderr } = spawnSync('unshare', [...namespace, process.execPath, program, folder], {
    encoding: 'utf8',
  });

  const said = stdout.split('\n').filter(Boolean);
  const kept = (events: number): object => ({ events, artifact: 30_000, names: ['old'] });
  const refused = Array.from({ length: 7 }, () => [503, true]);
  expect([stderr, ...said.map((line) => JSON.parse(line) as object)]).toEqual([
    '',
    { ready: 503, kept: kept(2) },
    { refused },
    { kept: kept(2), leftOver: ['apps'] },
    { served: 200 },
    { refused },
    { served: 200, kept: kept(6) },
    { refused: [503, true], kept: kept(6) },
    { taken: [200, false] },
    { taken: [200, false] },
    { end: 0 },
    { integrity_check: 'ok' },
  ]);
});
