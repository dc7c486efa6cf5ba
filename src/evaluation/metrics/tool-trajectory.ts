import { isDeepStrictEqual } from 'node:util';
import type { FunctionCall } from '../../schemas/content.ts';
import type { MatchType } from '../../schemas/evaluation/eval-metric.ts';
import { toolCallsOf } from '../../schemas/evaluation/eval-set.ts';
import { comparing, type Metric, metricInfo } from './metric.ts';
import { callText } from './texts.ts';

type Same = (actual: FunctionCall, expected: FunctionCall) => boolean;

/** Whether the expected tools were called, with the expected arguments: 1 or 0 for each turn. */
export const toolTrajectory: Metric = {
  info: metricInfo(
    'tool_trajectory_avg_score',
    'Compares the tool calls of each turn with the expected ones: names and arguments, all of them in the same order unless the match type is IN_ORDER or ANY_ORDER. 1 is a match.',
    1,
  ),
  defaultThreshold: 1,
  measure: comparing((actual, expected, { metric }) => {
    const { matchType = 'EXACT', ignoreArgs = false } = metric.criterion ?? {};
    const same: Same = (one, other) =>
      one.name === other.name && (ignoreArgs || isDeepStrictEqual(plain(one.args), plain(other.args)));
    const called = toolCallsOf(actual.intermediateData);
    const wanted = toolCallsOf(expected.intermediateData);
    const fault = faultOf(called, wanted, matchType, same);
    return fault === undefined ? { score: 1 } : { score: 0, reason: fault };
  }),
};

/** The arguments as plain JSON, so that prototypes and absent values do not matter. */
const plain = (args: FunctionCall['args']): unknown => JSON.parse(JSON.stringify(args ?? {}));

/** The first difference between the calls; `undefined` when they match. */
export function faultOf(
  called: readonly FunctionCall[],
  wanted: readonly FunctionCall[],
  matchType: MatchType,
  same: Same,
): string | undefined {
  if (matchType === 'EXACT') return exactFault(called, wanted, same);
  const left = [...called];
  for (const expected of wanted) {
    const at = left.findIndex((call) => same(call, expected));
    if (at < 0) {
      const order = matchType === 'IN_ORDER' ? ' in this order' : '';
      return `Expected a call of ${callText(expected)}${order}; called were ${listText(called)}`;
    }
    left.splice(matchType === 'IN_ORDER' ? 0 : at, matchType === 'IN_ORDER' ? at + 1 : 1);
  }
  return undefined;
}

function exactFault(called: readonly FunctionCall[], wanted: readonly FunctionCall[], same: Same): string | undefined {
  for (let index = 0; index < Math.max(called.length, wanted.length); index += 1) {
    const [actual, expected] = [called[index], wanted[index]];
    if (actual && expected && same(actual, expected)) continue;
    const place = `Call ${index + 1}`;
    if (!expected) return `${place}: ${actual ? callText(actual) : ''} was not expected`;
    if (!actual) return `${place}: expected ${callText(expected)}, and nothing more was called`;
    return `${place}: expected ${callText(expected)}, called was ${callText(actual)}`;
  }
  return undefined;
}

const listText = (calls: readonly FunctionCall[]): string => calls.map(callText).join(', ') || 'none';
