import { expect, it } from 'vitest';
import { chooseMetrics } from '../../src/evaluation/metrics/all-metrics.ts';
import type { AskModel } from '../../src/evaluation/metrics/ask-model.ts';
import { applyMetric, type AppliedMetric } from '../../src/evaluation/metrics/metric.ts';
import { EvalMetric } from '../../src/schemas/evaluation/eval-metric.ts';
import { EvalCase, Invocation } from '../../src/schemas/evaluation/eval-set.ts';
import { neverAborts } from './scene.ts';

interface Turn {
  readonly said?: string;
  readonly answer?: string;
  readonly calls?: readonly (object | undefined)[];
  readonly more?: object;
}

const turnOf = ({ said = 'hi', answer, calls = [], more = {} }: Turn): Invocation =>
  Invocation.parse({
    userContent: { role: 'user', parts: [{ text: said }] },
    ...(answer !== undefined && { finalResponse: { role: 'model', parts: [{ text: answer }] } }),
    intermediateData: { toolUses: calls },
    ...more,
  });

const nobody: AskModel = async () => {
  throw new Error('there is no judge');
};

/** Applies one metric to turns, with what was expected of each. */
function apply(
  metric: object,
  turns: readonly (readonly [actual: Turn, expected: Turn])[],
  ask: AskModel = nobody,
): Promise<AppliedMetric> {
  const [chosen] = chooseMetrics([EvalMetric.parse(metric)]);
  const actual = turns.map(([turn]) => turnOf(turn));
  const expected = turns.map(([, turn]) => turnOf(turn));
  const evalCase = EvalCase.parse({ evalId: 'case', conversation: expected });
  const input = {
    metric: chosen!.settings,
    evalCase,
    actual,
    expected,
    agents: 'agent a',
    prices: { m: { input: 1, output: 2 }, mini: { input: 3, output: 4 } },
    ask,
    signal: neverAborts,
  };
  return applyMetric(chosen!.metric, input);
}

const reasonOf = ({ overall }: AppliedMetric): string | undefined => overall.details.rubricScores?.[0]?.rationale;

const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ name, args: { n: 1 } }));

it.each([
  ['EXACT', [one, two], [one, two], 1],
  ['EXACT', [one, two, three], [one, two], 0],
  ['EXACT', [two, one], [one, two], 0],
  ['EXACT', [], [], 1],
  ['IN_ORDER', [one, three, two], [one, two], 1],
  ['IN_ORDER', [two, one], [one, two], 0],
  ['IN_ORDER', [one], [one, one], 0],
  ['in order', [three], [], 1],
  ['ANY_ORDER', [two, three, one], [one, two], 1],
  ['ANY_ORDER', [two, three], [one, two], 0],
  [2, [two, one], [one, two], 1],
] as const)('matches calls %s', async (matchType, called, wanted, score) => {
  const metric = { metricName: 'tool_trajectory_avg_score', criterion: { threshold: 1, matchType } };

  const { overall } = await apply(metric, [[{ calls: called }, { calls: wanted }]]);

  expect([overall.score, overall.evalStatus]).toEqual([score, score === 1 ? 1 : 2]);
});

it('compares the arguments of calls whatever the order of their keys, or ignores them', async () => {
  const called = { name: 'get', args: { a: 1, b: { c: [1] } } };
  const reordered = { name: 'get', args: { b: { c: [1] }, a: 1 } };
  const other = { name: 'get', args: { a: 2 } };
  const metric = { metricName: 'tool_trajectory_avg_score' };

  const same = await apply(metric, [[{ calls: [called] }, { calls: [reordered] }]]);
  const different = await apply(metric, [[{ calls: [called] }, { calls: [other] }]]);
  const ignored = await apply({ ...metric, criterion: { threshold: 1, ignore_args: true } }, [
    [{ calls: [called] }, { calls: [other] }],
  ]);

  expect([same, different, ignored].map(({ overall }) => overall.score)).toEqual([1, 0, 1]);
  expect(reasonOf(different)).toBe('Turn 1: Call 1: expected get({"a":2}), called was get({"a":1,"b":{"c":[1]}})');
});

it('gives a conversation the mean of its turns, and says which turn failed and why', async () => {
  const { overall, turns } = await apply({ metricName: 'tool_trajectory_avg_score' }, [
    [{ calls: [one!] }, { calls: [one!] }],
    [{ calls: [] }, { calls: [two!] }],
  ]);

  expect(overall).toMatchObject({ score: 0.5, evalStatus: 2, threshold: 1 });
  expect(turns.map(({ score }) => score)).toEqual([1, 0]);
  expect(reasonOf({ overall, turns })).toBe('Turn 2: Call 1: expected two({"n":1}), and nothing more was called');
});

it.each([
  ['response_match_score', 'Testing one two', 'testing', 0.5, 2],
  ['response_match_score', 'The same words', 'the same word!', 1, 1],
  ['exact_match', ' Paris ', 'Paris', 1, 1],
  ['exact_match', 'paris', 'Paris', 0, 2],
  ['json_match', '{"a": [1, 2], "b": null}', '```json\n{"b":null,"a":[1,2]}\n```', 1, 1],
  ['json_match', '{"a": 1}', '{"a": 1, "b": 2}', 0, 2],
  ['json_match', '{"a": {"b": 1}}', '{"a": {"b": 2}}', 0, 2],
  ['json_match', '{"a": 1}', 'a is 1', 0, 2],
  ['json_match', 'a is 1', '{"a": 1}', undefined, 3],
])('%s of %j against %j', async (metricName, expected, given, ...[score, status]) => {
  const { overall } = await apply({ metricName }, [[{ answer: given }, { answer: expected }]]);

  expect([overall.score, overall.evalStatus]).toEqual([score, status]);
});

it('takes options of the text and JSON matches from the criterion', async () => {
  const loose = { metricName: 'exact_match', criterion: { threshold: 1, strict: false } };
  const subset = { metricName: 'json_match', criterion: { threshold: 1, subset: true } };

  const text = await apply(loose, [[{ answer: 'NEW  york' }, { answer: 'New York' }]]);
  const json = await apply(subset, [[{ answer: '{"a":1,"b":2}' }, { answer: '{"a":1}' }]]);
  const nested = await apply({ metricName: 'json_match' }, [
    [{ answer: '{"a":[{"b":2}]}' }, { answer: '{"a":[{"b":1}]}' }],
  ]);

  expect([text.overall.score, json.overall.score]).toEqual([1, 1]);
  expect(reasonOf(nested)).toBe('Turn 1: $.a[0].b is "2", expected was "1"');
});

const used = (input: number, output: number, model = 'm'): object => ({
  duration: 2,
  intermediateData: {
    invocationEvents: [
      {
        author: 'a',
        modelVersion: model,
        usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
      },
    ],
  },
});

it.each([
  [{ metricName: 'latency_seconds', threshold: 3 }, 2, 1],
  [{ metricName: 'latency_seconds', threshold: 1 }, 2, 2],
  [{ metricName: 'latency_seconds' }, 2, 4],
  [{ metricName: 'token_usage_v1', threshold: 150 }, 150, 1],
  [{ metricName: 'token_usage_v1', threshold: 149 }, 150, 2],
  [{ metricName: 'inference_call_count_v1' }, 1, 4],
  [{ metricName: 'tool_call_count_v1' }, 0, 4],
  [{ metricName: 'cost_usd', threshold: 0.0002 }, 0.0002, 1],
  [{ metricName: 'cost_usd', criterion: { threshold: 0.0001, prices: { m: { input: 2, output: 2 } } } }, 0.0003, 2],
])('holds %j to its limit', async (metric, score, status) => {
  const { overall } = await apply(metric, [[{ more: used(100, 50) }, {}]]);

  expect(overall.score).toBeCloseTo(score, 9);
  expect(overall.evalStatus).toBe(status);
});

it('says why a metric could not be evaluated, and lets the others be', async () => {
  const judged = await apply({ metricName: 'safety_v1' }, [[{ answer: 'a' }, {}]]);

  expect(judged.overall).toMatchObject({ evalStatus: 3 });
  expect(judged.overall.score).toBeUndefined();
  expect(reasonOf(judged)).toBe('Not evaluated: there is no judge');
});

it('refuses a metric nobody knows, and names the nearest', () => {
  expect(() => chooseMetrics([{ metricName: 'respons_match_score' }])).toThrow(/did you mean "response_match_score"/);
});
