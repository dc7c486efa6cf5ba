import { z } from 'zod';
import type { ErrorPolicy } from '../../base/error-policy.ts';
import { thrownAt } from '../../base/thrown-at.ts';
import {
  type EvalMetric,
  type EvalMetricResult,
  evalStatus,
  type EvalStatus,
  type MetricInfo,
  type RubricScore,
} from '../../schemas/eval-metric.ts';
import type { EvalCase, Invocation } from '../../schemas/eval-set.ts';
import type { Prices } from '../../schemas/prices.ts';
import type { AskModel } from './ask-model.ts';

/** What a metric looks at: one conversation and what it is compared with. */
export interface MetricInput {
  readonly metric: EvalMetric;
  readonly evalCase: EvalCase;
  /** One entry for each turn. */
  readonly actual: readonly Invocation[];
  /** As many, or absent where a simulated user led the conversation. */
  readonly expected: readonly Invocation[] | undefined;
  /** What the agents were told and could call, as a judge reads it. */
  readonly agents: string;
  /** What models cost, by the beginning of their names. */
  readonly prices: Prices;
  readonly ask: AskModel;
  /** Decides what callers see of what a metric of an author's throws. */
  readonly errors?: ErrorPolicy | undefined;
  readonly signal: AbortSignal;
}

/** How one turn scored, and why. No score: it could not be told. */
export interface TurnScore {
  readonly score?: number | undefined;
  readonly reason?: string;
  readonly rubricScores?: readonly RubricScore[];
}

/** How a conversation scored, and each of its turns. */
export interface MetricScore extends TurnScore {
  readonly turns: readonly TurnScore[];
}

/** Measures one side of a conversation. What it throws becomes the reason why it was not evaluated. */
export interface Metric {
  readonly info: MetricInfo;
  /** Used where nothing else is said; absent: the value is reported and nothing required of it. */
  readonly usualThreshold?: number;
  /** Passes at or below its threshold, as limits do. Others pass from it up. */
  readonly lowerIsBetter?: boolean;
  measure(input: MetricInput): Promise<MetricScore>;
}

/**
 * Everything a metric describes itself with. There is always an interval, because the UI of ADK draws a slider; values
 * without an upper end get a usual one.
 */
export function metricInfo(metricName: string, description: string, maxValue: number, minValue = 0): MetricInfo {
  const interval = { minValue, openAtMin: false, maxValue, openAtMax: false };
  return { metricName, description, metricValueInfo: { interval } };
}

export interface AppliedMetric {
  readonly overall: EvalMetricResult;
  readonly turns: readonly EvalMetricResult[];
}

/** Applies a metric and says what its scores mean. Never throws, but for a signal that aborts. */
export async function applyMetric(metric: Metric, input: MetricInput): Promise<AppliedMetric> {
  try {
    const { turns, ...whole } = await metric.measure(input);
    const results = turns.map((turn) => resultOf(metric, input, turn));
    const reason = whole.reason ?? firstReason(turns, results);
    return { overall: resultOf(metric, input, { ...whole, ...(reason !== undefined && { reason }) }), turns: results };
  } catch (error) {
    input.signal.throwIfAborted();
    const failed = resultOf(metric, input, { reason: `${faultWords}${whyOf(error, input.errors)}` });
    return { overall: failed, turns: input.actual.map(() => failed) };
  }
}

const faultWords = 'Not evaluated: ';

/** Whether a metric that should have been evaluated could not be, such as for want of a judge. */
export function couldNotBeEvaluated({ evalStatus: status, details }: EvalMetricResult): boolean {
  const reasons = (details.rubricScores ?? []).map(({ rationale = '' }) => rationale);
  return status === evalStatus.notEvaluated && reasons.some((reason) => reason.startsWith(faultWords));
}

/** Why the first turn that did not pass did not. */
function firstReason(turns: readonly TurnScore[], results: readonly EvalMetricResult[]): string | undefined {
  const at = results.findIndex((result) => result.evalStatus === evalStatus.failed);
  const reason = turns[at]?.reason;
  return reason === undefined ? undefined : `Turn ${at + 1}: ${reason}`;
}

const whyOf = (error: unknown, errors: ErrorPolicy | undefined): string => {
  if (errors && thrownAt(error)) return errors.report(error).message;
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
};

function resultOf(
  metric: Metric,
  input: MetricInput,
  { score, reason, rubricScores = [] }: TurnScore,
): EvalMetricResult {
  const { metricName } = input.metric;
  const why =
    reason === undefined ? [] : [{ rubricId: metricName, rationale: reason, ...(score !== undefined && { score }) }];
  const told = [...why, ...rubricScores];
  return {
    ...input.metric,
    ...(score !== undefined && { score }),
    evalStatus: statusOf(score, input.metric.threshold, metric.lowerIsBetter === true),
    details: told.length > 0 ? { rubricScores: told } : {},
  };
}

export function statusOf(score: number | undefined, threshold: number | undefined, lowerIsBetter: boolean): EvalStatus {
  if (score === undefined) return evalStatus.notEvaluated;
  if (threshold === undefined) return evalStatus.informational;
  const passed = lowerIsBetter ? score <= threshold : score >= threshold;
  return passed ? evalStatus.passed : evalStatus.failed;
}

/** Scores each turn on its own; the conversation has the mean of those that have a score. */
export async function byTurn(
  input: MetricInput,
  measure: (actual: Invocation, expected: Invocation | undefined, index: number) => TurnScore | Promise<TurnScore>,
): Promise<MetricScore> {
  const turns: TurnScore[] = [];
  for (const [index, actual] of input.actual.entries()) {
    input.signal.throwIfAborted();
    turns.push(await measure(actual, input.expected?.[index], index));
  }
  return { score: meanOf(turns), turns };
}

/** The same for metrics that compare: they need to be told what to expect. */
export function comparing(
  measure: (actual: Invocation, expected: Invocation, input: MetricInput) => TurnScore | Promise<TurnScore>,
): Metric['measure'] {
  return async (input) => {
    if (!input.expected) {
      const reason = 'Not applicable: the conversation is led by a simulated user, and nothing says what to expect';
      return { reason, turns: input.actual.map(() => ({ reason })) };
    }
    return byTurn(input, (actual, expected) => (expected ? measure(actual, expected, input) : {}));
  };
}

export function meanOf(turns: readonly TurnScore[]): number | undefined {
  const scores = turns.flatMap(({ score }) => (score === undefined ? [] : [score]));
  return scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
