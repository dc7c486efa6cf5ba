import type { EvalMetricResult } from '../../../../src/schemas/evaluation/eval-metric.ts';
import type { EvalCaseResult } from '../../../../src/schemas/evaluation/eval-result.ts';

export type Outcome = 'passed' | 'failed' | 'error' | 'told';

/** ADK's status numbers in words. `told`: a value without a threshold; `error`: it could not be evaluated. */
export const outcomeOfStatus = (status: number): Outcome =>
  (['failed', 'passed', 'failed', 'error', 'told'] as const)[status] ?? 'failed';

const couldNotBe = ({ evalStatus, details }: EvalMetricResult): boolean =>
  evalStatus === 3 && (details.rubricScores ?? []).some(({ rationale = '' }) => rationale.startsWith('Not evaluated'));

/** As the command line counts it: a metric that could not be evaluated is an error. */
export function outcomeOf({ errorMessage, finalEvalStatus, overallEvalMetricResults }: EvalCaseResult): Outcome {
  if (errorMessage !== undefined) return 'error';
  if (finalEvalStatus === 2) return 'failed';
  return overallEvalMetricResults.some(couldNotBe) ? 'error' : 'passed';
}

const words: Readonly<Record<Outcome, string>> = { passed: 'passed', failed: 'failed', error: 'error', told: 'value' };

export function OutcomeBadge({ outcome }: { readonly outcome: Outcome }) {
  return <span className={`badge outcome ${outcome}`}>{words[outcome]}</span>;
}

/** `0.50`, `1.00`, `1,204`. */
export function scoreText(score: number | undefined): string {
  if (score === undefined) return '–';
  if (Number.isInteger(score) && Math.abs(score) > 1) return String(score);
  return score.toFixed(Math.abs(score) < 0.01 && score !== 0 ? 4 : 2);
}

/** `tool_trajectory_avg_score` as people read it. */
export const metricLabel = (name: string): string =>
  name
    .replace(/_(?:v\d+|avg_score|score)$/, '')
    .replace(/_avg$/, '')
    .replaceAll('_', ' ');

/** Why: the reasons a result gives, the metric's own first. */
export const reasonsOf = ({ details }: EvalMetricResult): string[] =>
  (details.rubricScores ?? []).flatMap(({ rubricId, rationale, score }, index) => {
    if (rationale === undefined || rationale === '') return [];
    const mark = score === undefined || index === 0 ? '' : score >= 1 ? ' ✓' : ' ✗';
    return [index === 0 ? rationale : `${rubricId}${mark}: ${rationale}`];
  });
