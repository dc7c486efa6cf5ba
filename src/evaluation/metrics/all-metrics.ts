import { didYouMean } from '../../base/closest.ts';
import { AppError } from '../../base/errors.ts';
import type { CustomMetrics } from '../../core/custom-metric.ts';
import type { EvalMetric, MetricInfo } from '../../schemas/eval-metric.ts';
import { adapted, customMetric } from './custom.ts';
import { hallucinations } from './hallucinations.ts';
import { cost, latency, modelCallCount, tokenUsage, toolCallCount } from './limits.ts';
import type { Metric } from './metric.ts';
import { finalResponseMatch, responseEvaluation, safety } from './response-judges.ts';
import { exactMatch, jsonMatch, responseMatch } from './response-match.ts';
import { rubricQuality, rubricToolUse } from './rubrics.ts';
import { taskSuccess } from './task-success.ts';
import { toolTrajectory } from './tool-trajectory.ts';

/** Those that come with the server, the usual first. */
const builtIn: readonly Metric[] = [
  toolTrajectory,
  responseMatch,
  exactMatch,
  jsonMatch,
  finalResponseMatch,
  rubricQuality,
  rubricToolUse,
  hallucinations,
  safety,
  responseEvaluation,
  taskSuccess,
  latency,
  tokenUsage,
  cost,
  toolCallCount,
  modelCallCount,
];

/** A metric that was asked for, with all it needs to know. */
export interface ChosenMetric {
  readonly metric: Metric;
  /** With its threshold and criterion filled in. */
  readonly asked: EvalMetric;
}

/** Finds the metrics asked for. Throws `invalid_request` for a name that neither the server nor the app knows. */
export function chooseMetrics(asked: readonly EvalMetric[], own: CustomMetrics = {}): ChosenMetric[] {
  return asked.map((one) => {
    const { metricName, customFunctionPath } = one;
    const metric =
      customMetric(own, metricName, customFunctionPath) ?? builtIn.find(({ info }) => info.metricName === metricName);
    if (metric) return { metric, asked: complete(one, metric) };
    const names = [...builtIn.map(({ info }) => info.metricName), ...Object.keys(own)];
    throw new AppError('invalid_request', `Unknown metric "${metricName}"${didYouMean(metricName, names)}`);
  });
}

/** Whether less is better, for comparisons of scores. */
export const isLowerBetter = (metricName: string): boolean =>
  builtIn.find(({ info }) => info.metricName === metricName)?.lowerIsBetter === true;

/** What may be chosen for an app. */
export function metricInfos(own: CustomMetrics = {}): MetricInfo[] {
  const custom = Object.entries(own).map(([name, score]) => adapted(name, score).info);
  return [...builtIn.map(({ info }) => info), ...custom];
}

/** Everything in the criterion, where ADK's files have it; the threshold beside it, too, where older clients look. */
function complete(asked: EvalMetric, { usualThreshold }: Metric): EvalMetric {
  const { judgeModelOptions, criterion, threshold: outer, ...rest } = asked;
  const threshold = criterion?.threshold ?? outer ?? usualThreshold;
  const judge = criterion?.judgeModelOptions ?? judgeModelOptions;
  const whole = {
    ...criterion,
    ...(threshold !== undefined && { threshold }),
    ...(judge && { judgeModelOptions: judge }),
  };
  return {
    ...rest,
    ...(threshold !== undefined && { threshold }),
    ...(Object.keys(whole).length > 0 && { criterion: whole }),
  };
}
