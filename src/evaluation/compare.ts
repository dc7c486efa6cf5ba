import { evalStatus, type EvalStatus } from '../schemas/evaluation/eval-metric.ts';
import {
  type CaseChange,
  type Change,
  changes,
  type EvalCaseResult,
  type EvalSetResult,
  type MetricChange,
  type RunComparison,
} from '../schemas/evaluation/eval-result.ts';
import { isLowerBetter } from './metrics/all-metrics.ts';

/** Compares two runs. A case regressed when its status, or a metric's status or score, got worse. */
export function compareRuns(before: EvalSetResult, after: EvalSetResult): RunComparison {
  const earlier = byCase(before);
  const later = byCase(after);
  const ids = new Set([...later.keys(), ...earlier.keys()]);
  const cases = [...ids].map((evalId) => caseChange(evalId, earlier.get(evalId), later.get(evalId)));
  const counts = Object.fromEntries(
    changes.map((change) => [change, cases.filter((one) => one.change === change).length]),
  ) as Record<Change, number>;
  return {
    before: before.evalSetResultId,
    after: after.evalSetResultId,
    counts,
    cases: cases.toSorted((a, b) => changes.indexOf(a.change) - changes.indexOf(b.change)),
  };
}

function byCase({ evalCaseResults }: EvalSetResult): Map<string, EvalCaseResult[]> {
  const cases = new Map<string, EvalCaseResult[]>();
  for (const result of evalCaseResults) cases.set(result.evalId, [...(cases.get(result.evalId) ?? []), result]);
  return cases;
}

function caseChange(evalId: string, before: EvalCaseResult[] = [], after: EvalCaseResult[] = []): CaseChange {
  const [statusBefore, statusAfter] = [worst(before), worst(after)];
  const names = new Set([...after, ...before].flatMap((one) => one.overallEvalMetricResults.map((m) => m.metricName)));
  const metrics = [...names].map((name) => metricChange(name, before, after));
  const own = changeOf({ statusBefore, statusAfter });
  const isPresent = before.length > 0 && after.length > 0;
  const change = isPresent ? worstChange([own, ...metrics.map((metric) => metric.change)]) : own;
  return {
    evalId,
    change,
    ...(statusBefore !== undefined && { statusBefore }),
    ...(statusAfter !== undefined && { statusAfter }),
    metrics: metrics.toSorted((a, b) => changes.indexOf(a.change) - changes.indexOf(b.change)),
    ...(before[0] && { sessionBefore: before[0].sessionId }),
    ...(after[0] && { sessionAfter: after[0].sessionId }),
  };
}

function metricChange(
  metricName: string,
  before: readonly EvalCaseResult[],
  after: readonly EvalCaseResult[],
): MetricChange {
  const [earlier, later] = [metricOf(metricName, before), metricOf(metricName, after)];
  const sides = { statusBefore: earlier.status, statusAfter: later.status, before: earlier.score, after: later.score };
  const known = Object.fromEntries(Object.entries(sides).filter(([, value]) => value !== undefined));
  const change = changeOf({ ...sides, lowerIsBetter: isLowerBetter(metricName) });
  return { metricName, change, ...known, ...(later.reason !== undefined && { reason: later.reason }) };
}

function metricOf(
  metricName: string,
  results: readonly EvalCaseResult[],
): { score: number | undefined; status: EvalStatus | undefined; reason: string | undefined } {
  const own = results.flatMap((result) =>
    result.overallEvalMetricResults.filter((one) => one.metricName === metricName),
  );
  const scores = own.flatMap(({ score }) => (score === undefined ? [] : [score]));
  const failed = own.find((one) => one.evalStatus === evalStatus.failed);
  return {
    score: scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length,
    status: worstStatus(own.map((one) => one.evalStatus)),
    reason: failed?.details.rubricScores?.[0]?.rationale,
  };
}

interface Sides {
  readonly statusBefore: EvalStatus | undefined;
  readonly statusAfter: EvalStatus | undefined;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly lowerIsBetter?: boolean;
}

/** Smaller differences are rounding errors. */
const tolerance = 1e-9;

function changeOf({ statusBefore, statusAfter, before, after, lowerIsBetter = false }: Sides): Change {
  if (statusBefore === undefined) return 'added';
  if (statusAfter === undefined) return 'missing';
  if (rank(statusAfter) !== rank(statusBefore))
    return rank(statusAfter) < rank(statusBefore) ? 'regressed' : 'improved';
  if (before === undefined || after === undefined || Math.abs(after - before) < tolerance) return 'same';
  // Values within their limit count as the same, because times and tokens vary.
  if (lowerIsBetter && statusAfter !== evalStatus.failed) return 'same';
  return after < before === !lowerIsBetter ? 'regressed' : 'improved';
}

/** Ranks failed, not evaluated, passed. Values that are only reported do not count. */
const rank = (status: EvalStatus): number => [0, 2, 0, 1, 2][status] ?? 0;

function worstStatus(statuses: readonly EvalStatus[]): EvalStatus | undefined {
  return statuses.toSorted((a, b) => rank(a) - rank(b))[0];
}

const worst = (results: readonly EvalCaseResult[]): EvalStatus | undefined =>
  worstStatus(results.map((result) => result.finalEvalStatus));

/** One regression outweighs all improvements. */
function worstChange(found: readonly Change[]): Change {
  const relevant: readonly Change[] = found.filter((change) => change !== 'added' && change !== 'missing');
  return changes.find((change) => relevant.includes(change)) ?? 'same';
}
