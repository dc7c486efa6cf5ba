import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { start } from '../support/program.ts';

/** More of them: CHAOS_KILLS=100 npx vitest run test/chaos. */
const kills = Number(process.env['CHAOS_KILLS'] ?? 8);
const program = fileURLToPath(new URL('run.ts', import.meta.url));

it.each(['postgres', 'sqlite'])(
  'loses, doubles and mixes up nothing while servers on %s are killed, frozen and cut off',
  { timeout: 180_000 + kills * 15_000 },
  async (store) => {
    const args = ['--store', store, '--kills', String(kills)];
    const { code, out, err } = await start(args, { command: [process.execPath, program] }).ended;

    expect(`${out}${err}`).toContain('nothing was lost, doubled or mixed up');
    expect(code).toBe(0);
  },
);
