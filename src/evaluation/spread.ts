import { evalStatus } from '../schemas/evaluation/eval-metric.ts';
import type { EvalCaseResult, Spread } from '../schemas/evaluation/eval-result.ts';

/**
 * The spread of the scores over the repetitions of each case, per metric. A repetition that could not run counts as a
 * failed one without a score.
 */
export function spreadOf(results: readonly EvalCaseResult[]): Spread[] {
  const unrunnable = new Map<string, number>();
  const groups = new Map<
    string,
    { evalId: string; metricName: string; scores: number[]; runs: number; passed: number }
  >();
  for (const { evalId, overallEvalMetricResults } of results) {
    if (overallEvalMetricResults.length === 0) unrunnable.set(evalId, (unrunnable.get(evalId) ?? 0) + 1);
    for (const { metricName, score, evalStatus: status } of overallEvalMetricResults) {
      const key = JSON.stringify([evalId, metricName]);
      const group = groups.get(key) ?? { evalId, metricName, scores: [], runs: 0, passed: 0 };
      groups.set(key, group);
      group.runs += 1;
      if (status === evalStatus.passed) group.passed += 1;
      if (score !== undefined) group.scores.push(score);
    }
  }
  return [...groups.values()].flatMap(({ evalId, metricName, scores, runs, passed }) => {
    if (scores.length === 0) return [];
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    const variance = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length;
    const [min, max] = [Math.min(...scores), Math.max(...scores)];
    const allRuns = runs + (unrunnable.get(evalId) ?? 0);
    return { evalId, metricName, runs: allRuns, passed, mean, min, max, deviation: Math.sqrt(variance) };
  });
}
