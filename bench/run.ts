import { parseArgs } from 'node:util';
import { openBench, type Bench } from './bench.ts';
import { measureApps } from './cases/apps.ts';
import { measureCredentials } from './cases/credentials.ts';
import { measureCrowd, measureOthersDuringStreams } from './cases/crowd.ts';
import { measureEvaluations } from './cases/evaluation.ts';
import { measureSilentClients, measureStart } from './cases/footprint.ts';
import { measureReads, measureTurns } from './cases/history.ts';
import { measureLive } from './cases/live.ts';
import { measureDurableTurns, measurePostgres, measureSqlite } from './cases/storage.ts';
import { measureRuns, measureStreams, measureToolRuns } from './cases/throughput.ts';
import { printReport, type Row } from './report.ts';

const cases: Readonly<Record<string, (bench: Bench) => Promise<Row[]>>> = {
  run: measureRuns,
  tools: measureToolRuns,
  sse: measureStreams,
  turns: measureTurns,
  reads: measureReads,
  crowd: measureCrowd,
  others: measureOthersDuringStreams,
  start: measureStart,
  apps: measureApps,
  silent: measureSilentClients,
  evals: measureEvaluations,
  sqlite: measureSqlite,
  postgres: measurePostgres,
  durable: measureDurableTurns,
  live: measureLive,
  credentials: measureCredentials,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(cases).join(',') },
    entry: { type: 'string', default: 'bin/start.js' },
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

const bench = openBench({
  rounds: values.quick ? 1 : Number(values.rounds),
  scale: values.quick ? 0.25 : 1,
  entry: values.entry,
});
// The first start may have to build; no case should pay for that.
await bench.start(['quick']);
await bench.stopAll();
const rows: Row[] = [];
for (const name of values.only.split(',')) {
  const measure = cases[name];
  if (measure === undefined)
    throw new Error(`There is no case "${name}": choose from ${Object.keys(cases).join(', ')}`);
  console.error(`measuring ${name} ...`);
  try {
    rows.push(...(await measure(bench)));
  } catch (error) {
    // The other cases still have something to say.
    const reason = error instanceof Error ? error.message : String(error);
    console.error(reason);
    rows.push({ name, figure: 'could not be measured', goal: { text: 'a figure', met: false } });
    await bench.stopAll();
  }
}
await bench.close();
const missed = printReport(rows);
process.exitCode = values.strict && missed > 0 ? 1 : 0;
