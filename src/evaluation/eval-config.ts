import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import type { EvalMetric } from '../schemas/eval-metric.ts';
import { EvalConfig, type UserSimulatorConfig } from '../schemas/eval-result.ts';

/** The file beside an app that says which metrics its evaluations apply. */
export const configFile = 'test_config.json';

/** What ADK applies where nothing is said. */
export const usualMetrics: readonly EvalMetric[] = [
  { metricName: 'tool_trajectory_avg_score', threshold: 1 },
  { metricName: 'response_match_score', threshold: 0.8 },
];

/** What an app says of its evaluations. */
export interface AppEvaluation {
  readonly metrics: readonly EvalMetric[];
  readonly userSimulator?: UserSimulatorConfig;
}

/** What the app's `test_config.json` says, or the usual. Throws `invalid_request` when it is no such file. */
export async function configOfApp(folder: string | undefined): Promise<AppEvaluation> {
  if (folder === undefined) return { metrics: usualMetrics };
  let text: string;
  try {
    text = await readFile(join(folder, configFile), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { metrics: usualMetrics };
    throw error;
  }
  return configIn(text, configFile);
}

/** What a config file's text says. Throws `invalid_request` when it is no such file. */
export function configIn(text: string, name: string): AppEvaluation {
  try {
    const { criteria, customMetrics = {}, userSimulatorConfig: userSimulator } = EvalConfig.parse(JSON.parse(text));
    const metrics = Object.entries(criteria).map(([metricName, criterion]) => ({
      metricName,
      ...(typeof criterion === 'number' ? { threshold: criterion } : { criterion }),
      ...pathOf(customMetrics[metricName]),
    }));
    return { metrics: metrics.length > 0 ? metrics : usualMetrics, ...(userSimulator && { userSimulator }) };
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
