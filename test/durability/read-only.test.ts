import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { mayMount, namespace } from './namespace.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-read-only-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isAllowed = mayMount(folder);
if (!isAllowed) console.log('skipped: this machine lets no program mount a disk that is read-only');

it.skipIf(!isAllowed).each(['stopped', 'killed'])(
  'reads from a read-only disk what a server that was %s left there, and writes when it may',
  (ending) => {
    const program = new URL('read-only-program.ts', import.meta.url).pathname;
    const args = [...namespace, process.execPath, program, folder, ending];

    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });

    const said = stdout.split('\n').filter(Boolean);
    expect([stderr, ...said.map((line) => JSON.parse(line) as object)]).toEqual([
      '',
      { reading: 2, state: { count: 1 }, run: 'done' },
      { refused: Array.from({ length: 4 }, () => [503, true]) },
      { readingStill: 2 },
      { writing: 4, state: { count: 2 } },
      { end: 0 },
    ]);
  },
);
