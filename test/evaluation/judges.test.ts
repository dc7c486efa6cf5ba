import { expect, it } from 'vitest';
import { chooseMetrics } from '../../src/evaluation/metrics/all-metrics.ts';
import type { AskModel, ModelQuestion } from '../../src/evaluation/metrics/ask-model.ts';
import { sentencesOf } from '../../src/evaluation/metrics/hallucinations.ts';
import { applyMetric } from '../../src/evaluation/metrics/metric.ts';
import { EvalMetric } from '../../src/schemas/evaluation/eval-metric.ts';
import { EvalCase } from '../../src/schemas/evaluation/eval-set.ts';
import { caseOf, neverAborts, paris } from './scene.ts';

/** A judge that gives these answers in turn, and keeps what it was asked. */
function judgeSaying(...answers: readonly string[]): { ask: AskModel; asked: ModelQuestion[] } {
  const asked: ModelQuestion[] = [];
  return {
    asked,
    ask: async (question) => {
      asked.push(question);
      return answers[(asked.length - 1) % answers.length] ?? '';
    },
  };
}

async function judged(metric: object, ask: AskModel, more: object = {}) {
  const [chosen] = chooseMetrics([EvalMetric.parse(metric)]);
  const evalCase = EvalCase.parse({ ...caseOf('case', paris), ...more });
  const actual = evalCase.conversation!;
  const input = {
    metric: chosen!.settings,
    evalCase,
    actual,
    expected: actual,
    agents: 'agent weather: be kind',
    prices: {},
    ask,
  };
  const { overall, turns } = await applyMetric(chosen!.metric, { ...input, signal: neverAborts });
  return { ...overall, turn: turns[0], reason: overall.details.rubricScores?.[0]?.rationale };
}

const verdict = (word: string, why = 'so'): string =>
  JSON.stringify({ reasoning: why, is_the_agent_response_valid: word });
const judge = (numSamples: number) => ({ judgeModelOptions: { judgeModel: 'judge', numSamples } });

it('takes the majority of the samples of a judge, and a tie for a no', async () => {
  const metricName = 'final_response_match_v2';
  const mixed = judgeSaying(verdict('valid'), verdict('invalid', 'the city is wrong'));

  const three = await judged({ metricName, ...judge(3) }, mixed.ask);
  const two = await judged(
    { metricName, criterion: { threshold: 0.5, ...judge(2) } },
    judgeSaying(verdict('valid'), verdict('invalid', 'the city is wrong')).ask,
  );
  const usual = judgeSaying(verdict('valid'));
  await judged({ metricName }, usual.ask);

  expect(three).toMatchObject({ score: 1, evalStatus: 1 });
  expect(two).toMatchObject({ score: 0, evalStatus: 2 });
  expect(two.reason).toBe('Turn 1: the city is wrong (1 of 2 samples)');
  expect(mixed.asked.map(({ model, sample }) => [model, sample])).toEqual([
    ['judge', 0],
    ['judge', 1],
    ['judge', 2],
  ]);
  expect(usual.asked).toHaveLength(5);
});

it('shows a judge the message, the answer and the reference', async () => {
  const { ask, asked } = judgeSaying(verdict('valid'));

  await judged({ metricName: 'final_response_match_v2', ...judge(1) }, ask);

  expect(asked[0]?.prompt).toContain('weather in Paris');
  expect(asked[0]?.prompt.match(/It is sunny in Paris\./g)).toHaveLength(2);
});

it.each([
  ['```json\n{"reasoning": "x",\n "is_the_agent_response_valid": "valid"}\n```', 1],
  ['{"is_the_agent_response_valid": ["invalid"]}', 0],
  ['{"is_the_agent_response_valid": true}', 1],
  ['{"is_the_agent_response_valid": "almost"}', 0],
  ['I think it is fine', undefined],
])('reads the verdict in %j', async (answer, score) => {
  const found = await judged({ metricName: 'final_response_match_v2', ...judge(1) }, judgeSaying(answer).ask);

  expect(found.score).toBe(score);
  expect(found.evalStatus).toBe(score === undefined ? 3 : score === 1 ? 1 : 2);
});

const rubric = (rubricId: string, textProperty: string, type?: string) => ({
  rubricId,
  rubricContent: { textProperty },
  ...(type !== undefined && { type }),
});

it('scores the share of rubrics that are fulfilled, each by the majority', async () => {
  const say = (kind: string, short: string): string =>
    `ID: kind\nProperty: The answer is kind.\nRationale: as asked\nVerdict: ${kind}\n\nID: short\nProperty: **The answer is short**\nRationale: too long\nVerdict: ${short}\n`;
  const metric = {
    metricName: 'rubric_based_final_response_quality_v1',
    criterion: { threshold: 0.6, ...judge(3), rubrics: [rubric('kind', 'The answer is kind.')] },
  };
  const { ask, asked } = judgeSaying(say('yes', 'no'), say('yes', 'yes'), say('no', 'no'));

  const found = await judged(metric, ask, {
    rubrics: [rubric('short', 'The answer is short'), rubric('tool', 'x', 'TOOL_USE_QUALITY')],
  });

  expect(found).toMatchObject({ score: 0.5, evalStatus: 2 });
  expect(found.turn?.details.rubricScores).toEqual([
    { rubricId: 'kind', score: 1, rationale: 'as asked' },
    { rubricId: 'short', score: 0, rationale: 'too long' },
  ]);
  expect(asked[0]?.prompt).not.toContain('[id: tool]');
});

it('judges the use of tools by the rubrics for it', async () => {
  const metric = { metricName: 'rubric_based_tool_use_quality_v1', ...judge(1) };
  const { ask, asked } = judgeSaying('Property: Asks for the city.\nRationale: it did\nVerdict: Yes.');

  const found = await judged(metric, ask, { rubrics: [rubric('city', 'Asks for the city.', 'TOOL_USE_QUALITY')] });

  expect(found).toMatchObject({ score: 1, evalStatus: 1 });
  expect(asked[0]?.prompt).toContain('get_weather({"city":"Paris"})');
  expect(asked[0]?.prompt).toContain('agent weather: be kind');
});

it('needs rubrics, and a verdict on each', async () => {
  const metric = { metricName: 'rubric_based_tool_use_quality_v1', ...judge(1) };

  const none = await judged(metric, judgeSaying('x').ask);
  const unread = await judged(metric, judgeSaying('Verdict: yes').ask, {
    rubrics: [rubric('a', 'A'), rubric('b', 'B')],
  });

  expect(none.reason).toMatch(/no rubrics/);
  expect(unread.reason).toMatch(/gave no answer that can be read/);
});

it('counts the sentences that nothing supports', async () => {
  const metric = { metricName: 'hallucinations_v1', ...judge(1) };
  const answer = [
    'sentence: It is sunny in Paris.\nlabel: supported\nrationale: the tool said so\nsupporting_excerpt: sunny\ncontradicting_excerpt: null',
    'sentence: It is 40 degrees.\nlabel: unsupported\nrationale: nobody said so\nsupporting_excerpt: null\ncontradicting_excerpt: null',
    'sentence: Enjoy!\nlabel: not_applicable\nrationale: a wish\nsupporting_excerpt: null\ncontradicting_excerpt: null',
  ].join('\n\n');

  const found = await judged(metric, judgeSaying(answer).ask);

  expect(found.score).toBeCloseTo(2 / 3, 9);
  expect(found.reason).toBe('Turn 1: "It is 40 degrees." is unsupported: nobody said so');
});

it('splits an answer into sentences and list entries', () => {
  expect(
    sentencesOf('There are two. Really:\n* Red ones.\n* Blue ones\n\n---\n| a | b |\n|---|---|\n| 1 | 2 |'),
  ).toEqual(['There are two.', 'Really:', '* Red ones.', '* Blue ones', '| a | b |\n|---|---|\n| 1 | 2 |']);
});

it.each([
  ['safety_v1', '{"reasoning": "harmless", "is_safe": "yes"}', 1, 1],
  ['safety_v1', '{"reasoning": "it insults", "is_safe": "no"}', 0, 2],
  ['response_evaluation_score', '{"reasoning": "fine", "score": 4}', 4, 1],
  ['response_evaluation_score', '{"reasoning": "muddled", "score": 2}', 2, 2],
  ['multi_turn_task_success_v1', '{"reasoning": "done", "is_successful": "yes"}', 1, 1],
])('%s reads %j', async (metricName, answer, ...[score, status]) => {
  const found = await judged({ metricName, ...judge(2) }, judgeSaying(answer).ask);

  expect([found.score, found.evalStatus]).toEqual([score, status]);
});
