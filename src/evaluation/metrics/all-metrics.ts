import { didYouMean } from '../../base/closest.ts';
import { AppError } from '../../base/errors.ts';
import type { CustomMetrics } from '../../core/custom-metric.ts';
import type { EvalMetric, MetricInfo } from '../../schemas/evaluation/eval-metric.ts';
import { adapted, customMetric } from './custom.ts';
import { hallucinations } from './hallucinations.ts';
import { cost, latency, modelCallCount, tokenUsage, toolCallCount } from './limits.ts';
import type { Metric } from './metric.ts';
import { finalResponseMatch, responseEvaluation, safety } from './response-judges.ts';
import { exactMatch, jsonMatch, responseMatch } from './response-match.ts';
import { rubricQuality, rubricToolUse } from './rubrics.ts';
import { taskSuccess } from './task-success.ts';
import { toolTrajectory } from './tool-trajectory.ts';

/** The built-in metrics, the default ones first. */
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

/** A requested metric with its settings. */
export interface ChosenMetric {
  readonly metric: Metric;
  /** The requested settings, with threshold and criterion filled in. */
  readonly settings: EvalMetric;
}

/** Finds the requested metrics. Throws `invalid_request` for a name that neither the server nor the app has. */
export function chooseMetrics(requested: readonly EvalMetric[], own: CustomMetrics = {}): ChosenMetric[] {
  return requested.map((one) => {
    const { metricName, customFunctionPath } = one;
    const metric =
      customMetric(own, metricName, customFunctionPath) ?? builtIn.find(({ info }) => info.metricName === metricName);
    if (metric) return { metric, settings: complete(one, metric) };
    const names = [...builtIn.map(({ info }) => info.metricName), ...Object.keys(own)];
    throw new AppError('invalid_request', `Unknown metric "${metricName}"${didYouMean(metricName, names)}`);
  });
}

/** Whether less is better, for comparisons of scores. */
export const isLowerBetter = (metricName: string): boolean =>
  builtIn.find(({ info }) => info.metricName === metricName)?.lowerIsBetter === true;

/** The metrics for an app, including its own. */
export function metricInfos(own: CustomMetrics = {}): MetricInfo[] {
  const custom = Object.entries(own).map(([name, score]) => adapted(name, score).info);
  return [...builtIn.map(({ info }) => info), ...custom];
}

/** Moves all settings into the criterion, as in ADK's files. The threshold is also beside it, for older clients. */
function complete(settings: EvalMetric, { defaultThreshold }: Metric): EvalMetric {
  const { judgeModelOptions, criterion, threshold: outer, ...rest } = settings;
  const threshold = criterion?.threshold ?? outer ?? defaultThreshold;
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
