import { AppError } from '../base/errors.ts';
import type { CustomMetric, CustomMetrics } from '../core/custom-metric.ts';

/** The `metrics` export of a module: an object of functions. Throws ConfigurationException for anything else. */
export function metricsOf(exported: unknown): CustomMetrics | undefined {
  if (exported === undefined) return undefined;
  if (isMetrics(exported)) return exported;
  throw new AppError('ConfigurationException', 'the export "metrics" must be an object of functions, by metric name');
}

function isMetrics(value: unknown): value is Record<string, CustomMetric> {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'function');
}
