import { expect, it } from 'vitest';
import { compareRuns } from '../../src/evaluation/compare.ts';
import { EvalSetResult } from '../../src/schemas/evaluation/eval-result.ts';

const metric = (metricName: string, score: number, evalStatus: number) => ({
  metricName,
  score,
  evalStatus,
  details: evalStatus === 2 ? { rubricScores: [{ rubricId: metricName, rationale: 'too low' }] } : {},
});
const result = (evalSetResultId: string, cases: Readonly<Record<string, readonly object[]>>) =>
  EvalSetResult.parse({
    evalSetResultId,
    evalSetId: 'set',
    evalCaseResults: Object.entries(cases).flatMap(([evalId, metrics]) => ({
      evalId,
      sessionId: `${evalSetResultId}-${evalId}`,
      finalEvalStatus: JSON.stringify(metrics).includes('"evalStatus":2') ? 2 : 1,
      overallEvalMetricResults: metrics,
    })),
  });

const good = metric('response_match_score', 1, 1);
const fair = metric('response_match_score', 0.9, 1);
const bad = metric('response_match_score', 0.1, 2);

it('puts what got worse first, then what is missing', () => {
  const before = result('r1', { same: [good], better: [bad], gone: [good], worse: [good], less: [good] });
  const after = result('r2', { same: [good], better: [good], worse: [bad], less: [fair], fresh: [bad] });

  const { cases, counts } = compareRuns(before, after);

  expect(cases.map(({ evalId, change }) => [evalId, change])).toEqual([
    ['worse', 'regressed'],
    ['less', 'regressed'],
    ['gone', 'missing'],
    ['better', 'improved'],
    ['fresh', 'added'],
    ['same', 'same'],
  ]);
  expect(counts).toEqual({ regressed: 2, missing: 1, improved: 1, added: 1, same: 1 });
  expect(cases[0]).toMatchObject({
    statusBefore: 1,
    statusAfter: 2,
    sessionBefore: 'r1-worse',
    sessionAfter: 'r2-worse',
    metrics: [{ metricName: 'response_match_score', change: 'regressed', before: 1, after: 0.1, reason: 'too low' }],
  });
});

it('takes a limit that is kept for the same, and one that is broken for a regression', () => {
  const tokens = (score: number, evalStatus: number) => metric('token_usage_v1', score, evalStatus);

  const kept = compareRuns(result('a', { x: [tokens(100, 1)] }), result('b', { x: [tokens(180, 1)] }));
  const broken = compareRuns(result('a', { x: [tokens(300, 2)] }), result('b', { x: [tokens(400, 2)] }));
  const mended = compareRuns(result('a', { x: [tokens(400, 2)] }), result('b', { x: [tokens(300, 2)] }));

  expect([kept, broken, mended].map(({ cases }) => cases[0]?.change)).toEqual(['same', 'regressed', 'improved']);
});

it('compares repetitions by their mean', () => {
  const twice = (id: string, ...scores: readonly number[]) => {
    const [first, ...rest] = scores.map((score) => result(id, { x: [metric('response_match_score', score, 1)] }));
    return { ...first!, evalCaseResults: [first!, ...rest].flatMap(({ evalCaseResults }) => evalCaseResults) };
  };

  const { cases } = compareRuns(twice('a', 1, 0.8), twice('b', 0.9, 0.9));

  expect(cases[0]?.change).toBe('same');
});
