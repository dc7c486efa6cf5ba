import * as adk from '../adk.ts';
import type { Bench } from '../bench.ts';
import { Connection } from '../connection.ts';
import { assertOk, drive, median } from '../load.ts';
import { ms, type Row } from '../report.ts';

const CLIENTS = 1000;

/** A thousand clients that connect and run at once, with a model that takes 200 ms. */
export async function measureCrowd(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['slow']);
  const totals: number[] = [];
  for (let round = 0; round <= bench.rounds; round += 1) {
    const ids = Array.from({ length: CLIENTS }, (_, index) => `crowd-${round}-${index}`);
    await drive({ port: server.port, concurrency: 16, requests: ids.map((id) => adk.createSession('slow', id)) });
    const requests = ids.map((id) => adk.run('slow', id));
    const { seconds } = await drive({ port: server.port, concurrency: CLIENTS, requests });
    if (round > 0) totals.push(seconds * 1000); // the first round warms up
  }
  await bench.stopAll();
  return [
    {
      name: '1,000 runs at once, model of 200 ms',
      figure: `all done after ${ms(median(totals))}`,
      goal: { text: '<= 400 ms', met: median(totals) <= 400 },
    },
  ];
}

const STREAMS = 16;
const PROBES = 100;

/** Small requests while sixteen clients read one stream after another. */
export async function measureOthersDuringStreams(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['stream']);
  const ids = Array.from({ length: Math.ceil(3000 * bench.scale) }, (_, index) => `others-${index}`);
  await drive({ port: server.port, concurrency: 16, requests: ids.map((id) => adk.createSession('stream', id)) });
  const probe = async (): Promise<number> => {
    const from = performance.now();
    assertOk(await other.send(adk.get('/list-apps')));
    return performance.now() - from;
  };
  const other = new Connection(server.port);
  const idle: number[] = [];
  while (idle.length < PROBES) idle.push(await probe());
  const streams = drive({
    port: server.port,
    concurrency: STREAMS,
    requests: ids.map((id) => adk.runSse('stream', id)),
  });
  const done = new AbortController();
  const ended = streams.finally(() => done.abort());
  const busy: number[] = [];
  while (!done.signal.aborted) busy.push(await probe());
  await ended;
  other.close();
  await bench.stopAll();
  return [{ name: 'others while 16 streams run', figure: `p50 ${ms(median(busy))} (idle ${ms(median(idle))})` }];
}
