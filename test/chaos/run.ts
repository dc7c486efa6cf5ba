// Kills, freezes and cuts off servers at random while they work, and looks whether anything they said is lost:
//   npm run -s build && node test/chaos/run.ts [--store postgres|sqlite] [--kills 50] [--seed 1] [--only-kills]
// What clients were told is compared with what each server tells afterwards and with the tables of the database. Prints
// what was found, and exits with 1 when a promise was broken.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Replica } from '../acceptance/durable/replicas.ts';
import { startPostgres } from '../support/postgres.ts';
import { Clients } from './clients.ts';
import { dice } from './dice.ts';
import { Faults } from './faults.ts';
import { ClientLog } from './log.ts';
import { readPostgres, readSqlite } from './tables.ts';
import * as traffic from './traffic.ts';
import { faultsFound, tooSlow, type Times, timesOf } from './verdict.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'postgres' },
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    'only-kills': { type: 'boolean', default: false },
  },
});

/** After so many faults, things are left alone for a while: how long something takes in peace is seen then. */
const burst = 25;
const peaceMs = 20_000;

const roll = dice(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), 'agent-chaos-'));
const postgres = values.store === 'postgres' ? await startPostgres() : undefined;
const file = join(folder, 'chaos.db');
const uri = postgres ? await postgres.newDatabase() : `sqlite:${file}`;
const replicas: Replica[] = [];
for (let count = 0; count < (postgres ? 2 : 1); count += 1) replicas.push(await Replica.start(uri));

const log = new ClientLog();
const clients = new Clients(replicas, log);
await traffic.beginFollowers(clients, 8);
await traffic.beginPlainStreams(clients);
await traffic.beginCancellers(clients);
await traffic.beginInterrupters(clients);
await traffic.beginRejected(clients);

const faults = new Faults({ uri, postgres, replicas, roll }, values['only-kills']);
const tally = (): string =>
  `${faults.count('kill')} kills, ${faults.count('freeze')} freezes, ${faults.count('database')} outages, ${faults.count('standstill')} standstills`;
for (let round = 1; faults.count('kill') < Number(values.kills); round += 1) {
  await pause(100 + roll(3_000));
  await faults.happen();
  if (round % burst === 0) await pause(peaceMs);
  process.stdout.write(`\r${tally()}; ${log.runs.length} runs followed   `);
}
process.stdout.write('\nwaiting for the runs to end\n');
await clients.end();
await settled(() => Promise.resolve(postgres ? readPostgres(uri) : readSqlite(file)));
const tables = await (postgres ? readPostgres(uri) : readSqlite(file));
const found = await faultsFound(log, tables, replicas);
found.push(...faults.failedStarts.map((error) => `a server did not start: ${String(error)}`));
const times = timesOf(log, faults, replicas.length > 1);
if (tooSlow(times) > 0)
  found.push(`${tooSlow(times)} runs stood still for up to ${times.afterKills.at(-1)} ms after a kill`);
for (const replica of replicas) await replica.process.stop();
await postgres?.close();
rmSync(folder, { recursive: true, force: true });

const shown = log.runs.reduce((sum, run) => sum + run.shown.length, 0) + log.plain.length;
process.stdout.write(`${tables.runs.length} runs, ${tables.events.length} events stored, ${shown} acknowledged\n`);
process.stdout.write(`${describe(times)}\n`);
for (const fault of found) process.stdout.write(`BROKEN: ${fault}\n`);
process.stdout.write(found.length === 0 ? 'nothing was lost, doubled or mixed up\n' : `${found.length} faults\n`);
process.exitCode = found.length === 0 ? 0 : 1;

/** Waits until no run is open: clients of plain streams leave theirs behind. */
async function settled(read: () => Promise<{ runs: readonly { state: string }[] }>): Promise<void> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { runs } = await read();
    if (!runs.some(({ state }) => state === 'queued' || state === 'running')) return;
    await pause(500);
  }
}

function describe({ afterKills, cancels, interrupts, longestMs }: Times): string {
  const said = (name: string, taken: readonly number[]): string =>
    `${name}: ${taken.length} times, p50 ${taken[Math.floor(taken.length / 2)] ?? '-'} ms, most ${taken.at(-1) ?? '-'} ms`;
  return [
    said('from a kill to the next event of a run that stood still', afterKills),
    said('cancelled by the other server', cancels),
    said('interrupted by the other server', interrupts),
    `longest silence of all: ${longestMs} ms`,
  ].join('\n');
}
