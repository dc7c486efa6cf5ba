import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openServices } from '../../src/services/open-services.ts';
import { FirestoreDouble } from '../support/firestore-double.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

/** More of them: KILLS=300 npx vitest run test/durability. */
const kills = Number(process.env['KILLS'] ?? 12);
const patienceMs = 60_000 + kills * 5_000;

const folder = mkdtempSync(join(tmpdir(), 'agent-kill-'));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The names of the events a program had stored when it was killed at some moment. */
async function acknowledged(uri: string, round: number): Promise<string[]> {
  const program = new URL('writing-program.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, uri, `r${round}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const lines: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
  const ended = once(child.stdout, 'end');
  await Promise.race([once(child.stdout, 'data'), gone]);
  if (child.exitCode !== null) throw new Error(`The program ended by itself, with ${child.exitCode}`);
  await pause(Math.random() * 150);
  child.kill('SIGKILL');
  await gone;
  await ended;
  const said = Buffer.concat(lines).toString().split('\n');
  return said.slice(0, -1); // the last line may be cut off
}

/** Kills programs that write, again and again; what they said they had stored must be there, once and in order. */
async function killAgainAndAgain(uri: string): Promise<number> {
  const said: string[] = [];
  for (let round = 0; round < kills; round += 1) said.push(...(await acknowledged(uri, round)));

  const { sessions, databases } = openServices({
    sessionService: uri,
    artifactService: 'memory:',
    memoryService: 'memory:',
  });
  for (let index = 0; index < 8; index += 1) {
    const session = await sessions.getSession({ appName: 'kill', userId: `user-${index}`, sessionId: `s-${index}` });
    const ids = session?.events.map(({ id }) => id) ?? [];
    const mine = said.filter((id) => id.split('-')[1] === String(index));
    const stored = new Set(ids);
    expect(stored.size).toBe(ids.length);
    expect(mine.filter((id) => !stored.has(id))).toEqual([]);
    // In the order they were said; an event may be stored that nobody could be told of any more.
    const wanted = new Set(mine);
    expect(ids.filter((id) => wanted.has(id))).toEqual(mine);
    expect(session?.state['user:last']).toBe(ids.at(-1)?.replace(/-\d+-/, '-'));
  }
  await databases.close();
  return said.length;
}

it('loses and doubles no event when programs that write to SQLite are killed', { timeout: patienceMs }, async () => {
  const path = join(folder, 'kill.db');

  const events = await killAgainAndAgain(`sqlite:${path}`);

  expect(events).toBeGreaterThan(kills);
  const file = new DatabaseSync(path);
  expect({ ...file.prepare('pragma integrity_check').get() }).toEqual({ integrity_check: 'ok' });
  file.close();
  if (kills > 12) console.log(`SQLite: ${events} events acknowledged in ${kills} kills`);
});

it(
  'loses and doubles no event when programs that write to PostgreSQL are killed',
  { timeout: patienceMs },
  async () => {
    const events = await killAgainAndAgain(await server.newDatabase());

    expect(events).toBeGreaterThan(kills);
    if (kills > 12) console.log(`PostgreSQL: ${events} events acknowledged in ${kills} kills`);
  },
);

it('loses and doubles no event when programs that write to Firestore are killed', { timeout: patienceMs }, async () => {
  const double = await FirestoreDouble.start();
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', double.host);
  try {
    const events = await killAgainAndAgain('firestore://test');

    expect(events).toBeGreaterThan(kills);
    if (kills > 12) console.log(`Firestore (a double): ${events} events acknowledged in ${kills} kills`);
  } finally {
    vi.unstubAllEnvs();
    await double.close();
  }
});
