import { expect, it } from 'vitest';
import { unrunnable } from '../../src/evaluation/case-result.ts';
import { spreadOf } from '../../src/evaluation/spread.ts';
import { EvalCaseResult } from '../../src/schemas/evaluation/eval-result.ts';
import { caseOf, hello, setOf } from './scene.ts';

const passedWith = (score: number, repetition: number): EvalCaseResult =>
  EvalCaseResult.parse({
    evalSetId: 'set',
    evalId: 'a',
    sessionId: 's1',
    finalEvalStatus: 1,
    overallEvalMetricResults: [{ metricName: 'dice', score, evalStatus: 1 }],
    repetition,
  });

it('counts repetitions that could not run as failed, without a score', () => {
  const [evalCase] = setOf(caseOf('a', hello)).evalCases;
  const broken = unrunnable('set', evalCase!, 'The disk is full', 1);

  expect(spreadOf([broken, passedWith(1, 2), passedWith(0.5, 3)])).toEqual([
    { evalId: 'a', metricName: 'dice', runs: 3, passed: 2, mean: 0.75, min: 0.5, max: 1, deviation: 0.25 },
  ]);
  expect(spreadOf([broken])).toEqual([]);
});
