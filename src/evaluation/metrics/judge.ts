import pLimit from 'p-limit';
import { defaultModel } from '../../core/model.ts';
import type { JudgeModelOptions } from '../../schemas/evaluation/eval-metric.ts';
import type { MetricInput, TurnScore } from './metric.ts';

const defaultSamples = 5;

/** Parses one sample of a judge's answer; `undefined` when it cannot be parsed. */
export type ReadAnswer<Sample> = (answer: string) => Sample | undefined;

/**
 * Sends a metric's judge the same prompt several times, at most `parallelismLimit` at once. Leaves out answers that cannot
 * be parsed; throws when none can.
 */
export async function sampled<Sample>(input: MetricInput, prompt: string, read: ReadAnswer<Sample>): Promise<Sample[]> {
  const options: JudgeModelOptions = input.metric.criterion?.judgeModelOptions ?? {};
  const { judgeModel = defaultModel, judgeModelConfig: config, script } = options;
  const limit = pLimit(options.parallelismLimit ?? 1);
  const samples = Array.from({ length: options.numSamples ?? defaultSamples }, (_, sample) =>
    limit(() => {
      input.signal.throwIfAborted();
      return input.ask({ model: judgeModel, prompt, config, script, sample }, input.signal);
    }),
  );
  try {
    const verdicts = (await Promise.all(samples)).flatMap((answer) => read(answer) ?? []);
    if (verdicts.length > 0) return verdicts;
  } catch (error) {
    limit.clearQueue(); // the other calls would fail, too
    throw error;
  }
  throw new Error(`judge "${judgeModel}" gave no answer that can be read`);
}

/** A judge's yes or no, with its reason. */
export interface Verdict {
  readonly isGood: boolean;
  readonly reason: string;
}

/** The verdict of the majority, with the first reason for it; a tie is a no. */
export function majority(verdicts: readonly Verdict[]): TurnScore {
  const good = verdicts.filter(({ isGood }) => isGood);
  const bad = verdicts.filter(({ isGood }) => !isGood);
  const isGood = good.length > bad.length;
  const [first] = isGood ? good : bad;
  const count = `${isGood ? good.length : bad.length} of ${verdicts.length} samples`;
  return { score: isGood ? 1 : 0, reason: [first?.reason, `(${count})`].filter(Boolean).join(' ') };
}

/** The value of a key of the JSON object in an answer, which may contain other text. */
export function jsonField(answer: string, key: string): string | undefined {
  const value = new RegExp(String.raw`"${key}"\s*:[\s[]*(?:"((?:[^"\\]|\\.)*)"|([\w.+-]+))`).exec(answer);
  const text = value?.[1] ?? value?.[2];
  return text === undefined ? undefined : unescaped(text);
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text.replaceAll('\n', String.raw`\n`)}"`));
  } catch {
    return text;
  }
}
