import type { EvalMetric } from '../schemas/evaluation/eval-metric.ts';
import type { ConversationScenario, Invocation } from '../schemas/evaluation/eval-set.ts';

/** The input of an app's own metric: one conversation. */
export interface CustomMetricInput {
  readonly metric: EvalMetric;
  /** What happened, one entry a turn. */
  readonly actual: readonly Invocation[];
  /** What was expected of each turn; absent where a simulated user led the conversation. */
  readonly expected: readonly Invocation[] | undefined;
  readonly scenario: ConversationScenario | undefined;
  readonly signal: AbortSignal;
}

/** A score, and why. `turns`: one for each turn; absent, each has the score of the whole. */
export interface CustomScore {
  readonly score: number;
  readonly reason?: string;
  readonly turns?: readonly { readonly score: number; readonly reason?: string }[];
}

/** Scores a conversation: it passes from the metric's threshold up. */
export type CustomMetric = (input: CustomMetricInput) => number | CustomScore | Promise<number> | Promise<CustomScore>;

export type CustomMetrics = Readonly<Record<string, CustomMetric>>;
