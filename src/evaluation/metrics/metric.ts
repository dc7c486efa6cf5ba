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
} from '../../schemas/evaluation/eval-metric.ts';
import type { EvalCase, Invocation } from '../../schemas/evaluation/eval-set.ts';
import type { Prices } from '../../schemas/prices.ts';
import type { AskModel } from './ask-model.ts';

/** The input of a metric: one conversation and its expectation. */
export interface MetricInput {
  readonly metric: EvalMetric;
  readonly evalCase: EvalCase;
  /** One entry for each turn. */
  readonly actual: readonly Invocation[];
  /** The same number of turns, or absent with a simulated user. */
  readonly expected: readonly Invocation[] | undefined;
  /** The agents' instructions and tools, as text for a judge. */
  readonly agents: string;
  /** Prices of models, by the start of their names. */
  readonly prices: Prices;
  readonly ask: AskModel;
  /** Decides what clients see of errors in a custom metric. */
  readonly errors?: ErrorPolicy | undefined;
  readonly signal: AbortSignal;
}

/** The score of one turn, with a reason. No score: it could not be determined. */
export interface TurnScore {
  readonly score?: number | undefined;
  readonly reason?: string;
  readonly rubricScores?: readonly RubricScore[];
}

/** The score of a conversation and of its turns. */
export interface MetricScore extends TurnScore {
  readonly turns: readonly TurnScore[];
}

/** Measures one aspect of a conversation. An error becomes the reason why it was not evaluated. */
export interface Metric {
  readonly info: MetricInfo;
  /** The default threshold; absent: the value is only reported. */
  readonly defaultThreshold?: number;
  /** Whether it passes at or below its threshold, like a limit. Others pass at or above it. */
  readonly lowerIsBetter?: boolean;
  measure(input: MetricInput): Promise<MetricScore>;
}

/**
 * The description of a metric. It always has an interval, because ADK's web UI shows a slider; values without an upper
 * limit get a typical one.
 */
export function metricInfo(metricName: string, description: string, maxValue: number, minValue = 0): MetricInfo {
  const interval = { minValue, openAtMin: false, maxValue, openAtMax: false };
  return { metricName, description, metricValueInfo: { interval } };
}

export interface AppliedMetric {
  readonly overall: EvalMetricResult;
  readonly turns: readonly EvalMetricResult[];
}

/** Applies a metric and rates its scores. Throws only when the signal aborts. */
export async function applyMetric(metric: Metric, input: MetricInput): Promise<AppliedMetric> {
  try {
    const { turns, ...whole } = await metric.measure(input);
    const results = turns.map((turn) => resultOf(metric, input, turn));
    const reason = whole.reason ?? firstReason(turns, results);
    return { overall: resultOf(metric, input, { ...whole, ...(reason !== undefined && { reason }) }), turns: results };
  } catch (error) {
    input.signal.throwIfAborted();
    const failed = resultOf(metric, input, { reason: `${faultPrefix}${whyOf(error, input.errors)}` });
    return { overall: failed, turns: input.actual.map(() => failed) };
  }
}

const faultPrefix = 'Not evaluated: ';

/** Whether a metric could not be evaluated although it applies, for example because its judge failed. */
export function couldNotBeEvaluated({ evalStatus: status, details }: EvalMetricResult): boolean {
  const reasons = (details.rubricScores ?? []).map(({ rationale = '' }) => rationale);
  return status === evalStatus.notEvaluated && reasons.some((reason) => reason.startsWith(faultPrefix));
}

/** The reason of the first failed turn. */
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
  const rationales = [...why, ...rubricScores];
  return {
    ...input.metric,
    ...(score !== undefined && { score }),
    evalStatus: statusOf(score, input.metric.threshold, metric.lowerIsBetter === true),
    details: rationales.length > 0 ? { rubricScores: rationales } : {},
  };
}

export function statusOf(score: number | undefined, threshold: number | undefined, lowerIsBetter: boolean): EvalStatus {
  if (score === undefined) return evalStatus.notEvaluated;
  if (threshold === undefined) return evalStatus.informational;
  const passed = lowerIsBetter ? score <= threshold : score >= threshold;
  return passed ? evalStatus.passed : evalStatus.failed;
}

/** Scores each turn separately. The conversation's score is the mean of the turns with a score. */
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

/** The same for metrics that need an expectation. */
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
