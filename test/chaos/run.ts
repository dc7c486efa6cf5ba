// Kills, freezes and cuts off servers at random while they work, and looks whether anything they said is lost:
//   node test/chaos/run.ts [--store postgres|sqlite] [--rounds 50] [--seed 1]
// A round is one fault. Prints what was found, and exits with 1 when a promise was broken.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Replica } from '../acceptance/durable/replicas.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { faultsFound, Traffic } from './traffic.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'postgres' },
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
  },
});

/** Small numbers that look random, the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const roll = dice(Number(values.seed));
const rounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), 'agent-chaos-'));
const isShared = values.store === 'postgres';
const postgres: PostgresServer | undefined = isShared ? await startPostgres() : undefined;
const file = join(folder, 'chaos.db');
const uri = postgres ? await postgres.newDatabase() : `sqlite:${file}`;
const replicas: Replica[] = [];
for (let count = 0; count < (isShared ? 2 : 1); count += 1) replicas.push(await Replica.start(uri));

const traffic = new Traffic(replicas);
await traffic.begin(12);

/** Does one bad thing, and says which. */
async function misfortune(): Promise<string> {
  const index = roll(replicas.length);
  const victim = replicas[index]!;
  const kind = isShared ? roll(10) : 0;
  if (kind < 6) {
    victim.signal('SIGKILL');
    await pause(roll(500));
    replicas[index] = await Replica.start(uri);
    return 'kill';
  }
  if (kind < 8) {
    victim.signal('SIGSTOP');
    await pause(1_000 + roll(9_000));
    victim.signal('SIGCONT');
    return 'freeze';
  }
  await postgres?.stop(kind === 8 ? 'fast' : 'immediate');
  await pause(500 + roll(5_000));
  await postgres?.start();
  return 'database';
}

const done: Record<string, number> = {};
for (let round = 0; round < rounds; round += 1) {
  await pause(200 + roll(2_500));
  const kind = await misfortune();
  done[kind] = (done[kind] ?? 0) + 1;
  process.stdout.write(`\r${round + 1}/${rounds} ${JSON.stringify(done)} ${traffic.accepted} runs accepted   `);
}
process.stdout.write('\nwaiting for the runs to end\n');
const report = await traffic.end();
const faults = await faultsFound(replicas[0]!, report);
for (const replica of replicas) await replica.process.stop();
if (!isShared) {
  const database = new DatabaseSync(file);
  const { integrity_check: found } = database.prepare('pragma integrity_check').get() as { integrity_check: string };
  if (found !== 'ok') faults.push(`integrity_check: ${found}`);
  database.close();
}
await postgres?.close();
rmSync(folder, { recursive: true, force: true });

const { runs, frames, slowestMs } = report;
const states = Object.entries(Object.groupBy(runs, ({ status }) => status)).map(
  ([status, some]) => `${some?.length ?? 0} ${status}`,
);
process.stdout.write(`${runs.length} runs (${states.join(', ')}), ${frames} events shown\n`);
process.stdout.write(`longest silence of a run: ${slowestMs} ms\n`);
for (const fault of faults.slice(0, 20)) process.stdout.write(`BROKEN: ${fault}\n`);
process.stdout.write(faults.length === 0 ? 'nothing was lost, doubled or mixed up\n' : `${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
