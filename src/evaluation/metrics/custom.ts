import type { CustomMetric, CustomMetrics, CustomScore } from '../../core/custom-metric.ts';
import { type Metric, metricInfo } from './metric.ts';

const defaultThreshold = 0.5;

/** Finds an app's metric by its name, or by the last part of a dotted path. */
export function customMetric(metrics: CustomMetrics, name: string, path: string | undefined): Metric | undefined {
  const last = path?.slice(path.lastIndexOf('.') + 1);
  const found = [path, last, name].find((key) => key !== undefined && Object.hasOwn(metrics, key));
  const score = found === undefined ? undefined : metrics[found];
  return score && adapted(name, score);
}

export const adapted = (name: string, score: CustomMetric): Metric => ({
  info: metricInfo(name, 'A metric of this app.', 1),
  defaultThreshold,
  async measure({ metric, actual, expected, evalCase, signal }) {
    const scenario = evalCase.conversationScenario;
    const answer: number | CustomScore = await score({ metric, actual, expected, scenario, signal });
    const whole: CustomScore = typeof answer === 'number' ? { score: answer } : answer;
    if (typeof whole.score !== 'number' || Number.isNaN(whole.score)) throw new Error('the metric gave no score');
    const { turns, ...own } = whole;
    return { ...own, turns: actual.map((_, index) => turns?.[index] ?? own) };
  },
});
