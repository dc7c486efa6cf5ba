import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../base/json.ts';
import { comparing, type Metric, metricInfo } from './metric.ts';
import { rouge1 } from './rouge.ts';
import { answerOf, quoted } from './texts.ts';

/** How many words the answer shares with the expected one (ROUGE-1, F measure), as ADK computes it. */
export const responseMatch: Metric = {
  info: metricInfo(
    'response_match_score',
    'How many words the final answer shares with the expected one (ROUGE-1, F measure, with stemming). 1 is the same words.',
    1,
  ),
  defaultThreshold: 0.8,
  measure: comparing((actual, expected, { metric }) => {
    const intermediate = metric.criterion?.includeIntermediateResponsesInFinal;
    const [given, wanted] = [answerOf(actual, intermediate), answerOf(expected, intermediate)];
    const { precision, recall, fmeasure } = rouge1(wanted, given);
    if (fmeasure === 1) return { score: 1 };
    const shares = `precision ${precision.toFixed(2)}, recall ${recall.toFixed(2)}`;
    return { score: fmeasure, reason: `Expected ${quoted(wanted)}, answered was ${quoted(given)} (${shares})` };
  }),
};

/** Whether the answer is exactly the expected text; with `strict: false`, except for case and white space. */
export const exactMatch: Metric = {
  info: metricInfo('exact_match', 'Whether the final answer is the expected text. 1 is the same text.', 1),
  defaultThreshold: 1,
  measure: comparing((actual, expected, { metric }) => {
    const normal = (text: string): string =>
      metric.criterion?.strict === false ? text.trim().replaceAll(/\s+/g, ' ').toLowerCase() : text.trim();
    const [given, wanted] = [answerOf(actual), answerOf(expected)];
    if (normal(given) === normal(wanted)) return { score: 1 };
    return { score: 0, reason: `Expected ${quoted(wanted)}, answered was ${quoted(given)}` };
  }),
};

/** Whether the answer is the expected JSON value; with `subset: true` it may hold more keys. */
export const jsonMatch: Metric = {
  info: metricInfo(
    'json_match',
    'Whether the final answer is JSON with the expected value, whatever its layout and the order of its keys. 1 is the same value.',
    1,
  ),
  defaultThreshold: 1,
  measure: comparing((actual, expected, { metric }) => {
    const wanted = jsonIn(answerOf(expected));
    if (!wanted) throw new Error('the expected answer is not JSON');
    const given = jsonIn(answerOf(actual));
    if (!given) return { score: 0, reason: `The answer is not JSON: ${quoted(answerOf(actual))}` };
    const place = differenceIn(given.value, wanted.value, metric.criterion?.subset === true, '$');
    return place === undefined ? { score: 1 } : { score: 0, reason: place };
  }),
};

/** The JSON of an answer, in a Markdown fence or bare. */
function jsonIn(text: string): { value: unknown } | undefined {
  const fenced = /```(?:json)?\s*\n(.*?)\n\s*```/s.exec(text)?.[1];
  try {
    return { value: JSON.parse(fenced ?? text) };
  } catch {
    return undefined;
  }
}

/** The first difference, as a sentence. */
function differenceIn(given: unknown, wanted: unknown, subset: boolean, place: string): string | undefined {
  if (isJsonObject(given) && isJsonObject(wanted)) {
    const surplus = subset ? undefined : Object.keys(given).find((key) => !Object.hasOwn(wanted, key));
    if (surplus !== undefined) return `${place}.${surplus} was not expected`;
    for (const [key, value] of Object.entries(wanted)) {
      if (!Object.hasOwn(given, key)) return `${place}.${key} is missing`;
      const found = differenceIn(given[key], value, subset, `${place}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(given) && Array.isArray(wanted) && given.length === wanted.length) {
    for (const [index, value] of wanted.entries()) {
      const found = differenceIn(given[index], value, subset, `${place}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isDeepStrictEqual(given, wanted)) return undefined;
  return `${place} is ${quoted(JSON.stringify(given))}, expected was ${quoted(JSON.stringify(wanted))}`;
}
