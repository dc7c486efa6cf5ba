import { type EvalMetricResult, evalStatus } from '../schemas/evaluation/eval-metric.ts';
import type { EvalCaseResult, EvalRunSummary, EvalSetResult } from '../schemas/evaluation/eval-result.ts';
import { isLowerBetter } from './metrics/all-metrics.ts';
import { couldNotBeEvaluated } from './metrics/metric.ts';

export type Outcome = 'passed' | 'failed' | 'error';

/**
 * The outcome of a case for CI, and how reports word it. Whether a score passes is decided in `metrics/metric.ts`
 * (`statusOf`), whether a case does in `case-result.ts` (`finalStatus`). Here a metric that could not be evaluated is an error, although ADK ignores it; a case whose
 * values are only reported passes.
 */
export function outcomeOf({
  finalEvalStatus,
  errorMessage,
  overallEvalMetricResults: metrics,
}: EvalCaseResult): Outcome {
  if (errorMessage !== undefined) return 'error';
  if (finalEvalStatus === evalStatus.failed) return 'failed';
  return metrics.some(couldNotBeEvaluated) ? 'error' : 'passed';
}

export const isClean = ({ evalCaseResults, cancelled }: EvalSetResult): boolean =>
  cancelled !== true && evalCaseResults.every((result) => outcomeOf(result) === 'passed');

/** A run in one line of a list. */
export function summaryOf(result: EvalSetResult): EvalRunSummary {
  const { evalSetResultId, evalSetId, creationTimestamp, mode, cancelled = false, evalCaseResults } = result;
  const outcomes = evalCaseResults.map(outcomeOf);
  const count = (wanted: Outcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  return {
    evalSetResultId,
    evalSetId,
    creationTimestamp,
    ...(mode && { mode }),
    cancelled,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
  };
}

/** Why a case did not pass, one line per metric and turn. */
export function faultsOf(result: EvalCaseResult): string[] {
  const { errorMessage, overallEvalMetricResults, evalMetricResultPerInvocation: turns } = result;
  const ofMetrics = overallEvalMetricResults.flatMap((metric) => {
    if (couldNotBeEvaluated(metric)) return `${metric.metricName}: ${reasonOf(metric)}`;
    if (metric.evalStatus !== evalStatus.failed) return [];
    const failed = turns.flatMap(({ evalMetricResults }, index) => {
      const own = evalMetricResults.find(({ metricName }) => metricName === metric.metricName);
      return own?.evalStatus === evalStatus.failed ? `  turn ${index + 1}: ${reasonOf(own)}` : [];
    });
    return [`${metric.metricName}: ${shortfall(metric)}`, ...failed];
  });
  return errorMessage === undefined ? ofMetrics : [`run failed: ${errorMessage}`, ...ofMetrics];
}

/** `0.50, needs 0.80` */
function shortfall({ metricName, score = 0, threshold = 0 }: EvalMetricResult): string {
  const bound = isLowerBetter(metricName) ? 'at most' : 'needs';
  return `${scoreText(score)}, ${bound} ${scoreText(threshold)}`;
}

export const scoreText = (score: number): string =>
  Number.isInteger(score) && Math.abs(score) > 1 ? String(score) : score.toFixed(Math.abs(score) < 0.01 ? 4 : 2);

const reasonOf = ({ details }: EvalMetricResult): string =>
  (details.rubricScores ?? []).map(({ rationale }) => rationale).find((reason) => reason !== undefined) ??
  'no reason given';
