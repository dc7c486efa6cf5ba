import type { Bench } from '../bench.ts';
import { median } from '../load.ts';
import { megabytes, ms, times, type Row } from '../report.ts';

const CASES = 200;
/** Until what the server keeps on purpose, sessions and traces, is full. */
const WARM_RUNS = 30;
const FLAT_RUNS = 30;
/** Resident memory may move by so much without being a leak: the collector takes its time. */
const FLAT_GROWTH = 1.3;

const turn = (said: string): unknown => ({
  user_content: { role: 'user', parts: [{ text: said }] },
  final_response: { role: 'model', parts: [{ text: 'Hello! I am well, thank you for asking.' }] },
});

/** An evaluation of many cases with three metrics, and what many evaluations leave behind. */
export async function measureEvaluations(bench: Bench): Promise<Row[]> {
  const server = await bench.start(['quick']);
  const post = async (path: string, body: unknown): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/apps/quick/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The server answered ${response.status}: ${text.slice(0, 200)}`);
  };
  const eval_cases = Array.from({ length: CASES }, (_, index) => ({
    eval_id: `case${index}`,
    conversation: [turn('Hello'), turn('How are you today?')],
  }));
  await post('eval-sets', { eval_set: { eval_set_id: 'big', eval_cases } });

  const evalMetrics = ['tool_trajectory_avg_score', 'response_match_score', 'exact_match'];
  const took: number[] = [];
  const run = async (): Promise<void> => {
    const from = performance.now();
    await post('eval-sets/big/run', { evalMetrics });
    took.push(performance.now() - from);
  };
  for (let index = 0; index < WARM_RUNS; index += 1) await run();
  const before = server.residentBytes();
  for (let index = 0; index < FLAT_RUNS; index += 1) await run();
  const after = server.residentBytes();
  await bench.stopAll();

  const [first = 0] = took;
  return [
    {
      name: `evaluation of ${CASES} cases, 3 metrics`,
      figure: ms(first),
      ratio: `then ${ms(median(took))}`,
      goal: { text: '< 10 s', met: first < 10_000 },
    },
    {
      name: `RSS after ${FLAT_RUNS} more of them`,
      figure: megabytes(after),
      ratio: `${times(after / before)} before (${megabytes(before)})`,
      goal: { text: `<= ${FLAT_GROWTH} x`, met: after <= before * FLAT_GROWTH },
    },
  ];
}
