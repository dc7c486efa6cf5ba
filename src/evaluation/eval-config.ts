import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import type { EvalMetric } from '../schemas/evaluation/eval-metric.ts';
import { EvalConfig, type UserSimulatorConfig } from '../schemas/evaluation/eval-result.ts';

/** The file in an app's folder with the metrics of its evaluations. */
export const configFile = 'test_config.json';

/** ADK's default metrics. */
export const defaultMetrics: readonly EvalMetric[] = [
  { metricName: 'tool_trajectory_avg_score', threshold: 1 },
  { metricName: 'response_match_score', threshold: 0.8 },
];

/** An app's settings for evaluations. */
export interface AppEvaluation {
  readonly metrics: readonly EvalMetric[];
  readonly userSimulator?: UserSimulatorConfig;
}

/** The settings in the app's `test_config.json`, or the defaults. Throws `invalid_request` for an invalid file. */
export async function configOfApp(folder: string | undefined): Promise<AppEvaluation> {
  if (folder === undefined) return { metrics: defaultMetrics };
  let text: string;
  try {
    text = await readFile(join(folder, configFile), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { metrics: defaultMetrics };
    throw error;
  }
  return configIn(text, configFile);
}

/** Parses a config file. Throws `invalid_request` for an invalid one. */
export function configIn(text: string, name: string): AppEvaluation {
  try {
    const { criteria, customMetrics = {}, userSimulatorConfig: userSimulator } = EvalConfig.parse(JSON.parse(text));
    const metrics = Object.entries(criteria).map(([metricName, criterion]) => ({
      metricName,
      ...(typeof criterion === 'number' ? { threshold: criterion } : { criterion }),
      ...pathOf(customMetrics[metricName]),
    }));
    return { metrics: metrics.length > 0 ? metrics : defaultMetrics, ...(userSimulator && { userSimulator }) };
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
