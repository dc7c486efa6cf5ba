import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import { EvalConfig, type EvalMetric } from '../schemas/eval-metric.ts';

/** The file beside an app that says which metrics its evaluations apply. */
export const configFile = 'test_config.json';

/** What ADK applies where nothing is said. */
export const usualMetrics: readonly EvalMetric[] = [
  { metricName: 'tool_trajectory_avg_score', threshold: 1 },
  { metricName: 'response_match_score', threshold: 0.8 },
];

/** The metrics of the app's `test_config.json`, or the usual ones. Throws `invalid_request` when it is no such file. */
export async function metricsOfApp(folder: string | undefined): Promise<readonly EvalMetric[]> {
  if (folder === undefined) return usualMetrics;
  let text: string;
  try {
    text = await readFile(join(folder, configFile), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return usualMetrics;
    throw error;
  }
  return metricsInConfig(text, configFile);
}

/** The metrics a config file's text names. Throws `invalid_request` when it is no such file. */
export function metricsInConfig(text: string, name: string): EvalMetric[] {
  try {
    const { criteria, customMetrics = {} } = EvalConfig.parse(JSON.parse(text));
    return Object.entries(criteria).map(([metricName, criterion]) => ({
      metricName,
      ...(typeof criterion === 'number' ? { threshold: criterion } : { criterion }),
      ...pathOf(customMetrics[metricName]),
    }));
  } catch (error) {
    const fault = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error);
    throw new AppError('invalid_request', `${name} does not say which metrics to apply: ${fault}`);
  }
}

const CodeConfig = z.object({ code_config: z.object({ name: z.string() }) });

function pathOf(custom: unknown): { customFunctionPath?: string } {
  const parsed = CodeConfig.safeParse(custom);
  return parsed.success ? { customFunctionPath: parsed.data.code_config.name } : {};
}
