import * as adk from '../adk.ts';
import type { Bench } from '../bench.ts';
import type { ChildServer } from '../child-server.ts';
import { drive, median, type LoadResult } from '../load.ts';
import { count, percent, times, type Row } from '../report.ts';

/** Runs on sessions without history, each used once. */
export async function measureRuns(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['quick']);
  const bare = await bench.startBare('fastify');
  return compare(bench, {
    name: 'run, fresh sessions',
    unit: 'req',
    goal: { at: [16], share: 0.33, cpu: 3 },
    loads: { 1: 3000, 16: 10_000, 64: 10_000 },
    ours: { server, requests: (amount) => onFreshSessions(server, 'quick', amount, adk.run) },
    bare: { server: bare, requests: (amount) => repeat(amount * 2, adk.run('bare', 'one')) },
    unitsOf: (result) => result.requests,
  });
}

/** Runs of two model calls with three tool calls side by side between them. */
export async function measureToolRuns(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['tools']);
  const bare = await bench.startBare('fastify');
  return compare(bench, {
    name: 'run, three tools at once',
    unit: 'req',
    goal: { at: [16], share: 0.15, cpu: 0 },
    loads: { 1: 2000, 16: 6000 },
    ours: { server, requests: (amount) => onFreshSessions(server, 'tools', amount, adk.run) },
    bare: { server: bare, requests: (amount) => repeat(amount * 2, adk.run('bare', 'one')) },
    unitsOf: (result) => result.requests,
  });
}

/** Streams of 100 partial events and the whole one, on sessions used once. */
export async function measureStreams(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['stream']);
  const bare = await bench.startBare('sse');
  return compare(bench, {
    name: 'SSE of 100 chunks',
    unit: 'event',
    goal: { at: [1, 16], share: 0.5, cpu: 2 },
    loads: { 1: 400, 16: 1600 },
    ours: { server, requests: (amount) => onFreshSessions(server, 'stream', amount, adk.runSse) },
    bare: { server: bare, requests: (amount) => repeat(amount * 2, adk.runSse('bare', 'one')) },
    unitsOf: (result) => result.frames,
  });
}

interface Comparison {
  readonly name: string;
  readonly unit: string;
  /** Met by this share of the bare rate, or by at most `cpu` times its processor time (0: the rate alone counts). */
  readonly goal: { readonly at: readonly number[]; readonly share: number; readonly cpu: number };
  /** Requests of a round, by concurrency. */
  readonly loads: Readonly<Record<number, number>>;
  readonly ours: Side;
  readonly bare: Side;
  unitsOf(result: LoadResult): number;
}

interface Side {
  readonly server: ChildServer;
  /** Prepares the requests of a round, before the clock starts. */
  requests(amount: number): readonly Buffer[] | Promise<readonly Buffer[]>;
}

interface Sample {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

/** Measures both sides by turns, so that a busy minute of the machine meets both. */
async function compare(bench: Bench, comparison: Comparison): Promise<Row[]> {
  const rows: Row[] = [];
  const { name, unit, goal } = comparison;
  const measure = async (side: Side, concurrency: number, amount: number): Promise<Sample> => {
    const requests = await side.requests(Math.ceil(amount * bench.scale));
    const cpu = side.server.cpuSeconds();
    const result = await drive({ port: side.server.port, concurrency, requests });
    const units = comparison.unitsOf(result);
    return { perSecond: units / result.seconds, cpuMicros: ((side.server.cpuSeconds() - cpu) / units) * 1e6 };
  };
  const warmUp = Math.max(...Object.values(comparison.loads)) / 4;
  await measure(comparison.ours, 16, warmUp);
  await measure(comparison.bare, 16, warmUp);
  for (const [concurrency, amount] of Object.entries(comparison.loads)) {
    const ours: Sample[] = [];
    const bare: Sample[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      ours.push(await measure(comparison.ours, Number(concurrency), amount));
      bare.push(await measure(comparison.bare, Number(concurrency), amount));
    }
    const rate = median(ours.map((sample) => sample.perSecond));
    const bareRate = median(bare.map((sample) => sample.perSecond));
    const cpu = median(ours.map((sample) => sample.cpuMicros));
    const bareCpu = median(bare.map((sample) => sample.cpuMicros));
    const share = rate / bareRate;
    const cost = cpu / bareCpu;
    rows.push({
      name: `${name}, c ${concurrency}`,
      figure: `${count(rate)} ${unit}/s, ${cpu.toFixed(1)} us CPU`,
      bare: `${count(bareRate)} ${unit}/s, ${bareCpu.toFixed(1)} us CPU`,
      ratio: `${percent(share)}, ${times(cost)} CPU`,
      ...(goal.at.includes(Number(concurrency)) && {
        goal: {
          text: goal.cpu === 0 ? `>= ${percent(goal.share)}` : `>= ${percent(goal.share)} or <= ${goal.cpu} x CPU`,
          met: share >= goal.share || cost <= goal.cpu,
        },
      }),
    });
  }
  await bench.stopAll();
  return rows;
}

const repeat = (amount: number, request: Buffer): readonly Buffer[] => Array.from({ length: amount }, () => request);

let sessions = 0;

/** Creates sessions over HTTP and returns one run for each. */
async function onFreshSessions(
  server: ChildServer,
  app: string,
  amount: number,
  request: (app: string, session: string) => Buffer,
): Promise<readonly Buffer[]> {
  const ids = Array.from({ length: amount }, () => `fresh-${(sessions += 1)}`);
  await drive({ port: server.port, concurrency: 16, requests: ids.map((id) => adk.createSession(app, id)) });
  return ids.map((id) => request(app, id));
}
