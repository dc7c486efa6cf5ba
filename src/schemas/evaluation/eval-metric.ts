import { z } from 'zod';
import { lenient } from '../lenient.ts';
import { Prices } from '../prices.ts';
import { scriptSchema } from '../script.ts';
import { Rubric } from './eval-set.ts';

const jsonObject = z.record(z.string(), z.unknown());

/** How ADK numbers the outcomes. `informational`: a value was measured that nothing was required of. */
export const evalStatus = { passed: 1, failed: 2, notEvaluated: 3, informational: 4 } as const;
export const EvalStatus = z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]);
export type EvalStatus = z.infer<typeof EvalStatus>;

/** The model that judges, and how often it is asked: the majority of the samples counts. */
export const JudgeModelOptions = lenient({
  judgeModel: z.string().min(1).optional(),
  judgeModelConfig: jsonObject.optional(),
  /** Default 5. */
  numSamples: z.number().int().min(1).max(100).optional(),
  /** Samples asked for at the same time. Default 1. */
  parallelismLimit: z.number().int().min(1).max(32).optional(),
  /** Answers when the model is `scripted`, or has no credentials here. */
  script: scriptSchema().optional(),
});
export type JudgeModelOptions = z.infer<typeof JudgeModelOptions>;

const matchTypes = ['EXACT', 'IN_ORDER', 'ANY_ORDER'] as const;

/** By name in any spelling, or by ADK's number. */
export const MatchType = z.union([z.string(), z.number()]).transform((value, ctx) => {
  const name = typeof value === 'string' ? value.trim().toUpperCase().replaceAll(/[- ]/g, '_') : matchTypes[value];
  const found = matchTypes.find((known) => known === name);
  if (found) return found;
  ctx.addIssue({ code: 'custom', message: `is none of ${matchTypes.join(', ')}` });
  return z.NEVER;
});
export type MatchType = (typeof matchTypes)[number];

/** What a metric asks for, in the words of all metrics; each looks at its own. */
export const Criterion = lenient({
  threshold: z.number().optional(),
  judgeModelOptions: JudgeModelOptions.optional(),
  rubrics: z.array(Rubric).optional(),
  matchType: MatchType.optional(),
  ignoreArgs: z.boolean().optional(),
  /** Whether what was said before tool calls is judged, too. */
  includeIntermediateResponsesInFinal: z.boolean().optional(),
  evaluateIntermediateNlResponses: z.boolean().optional(),
  /** Whether letter case and runs of white space count as differences. Default true. */
  strict: z.boolean().optional(),
  /** Whether the answer may hold more than the expected JSON. */
  subset: z.boolean().optional(),
  /** Over those the server knows; `*` stands for all other models. */
  prices: Prices.optional(),
});
export type Criterion = z.infer<typeof Criterion>;

const metricFields = {
  metricName: z.string().min(1),
  threshold: z.number().optional(),
  criterion: Criterion.optional(),
  judgeModelOptions: JudgeModelOptions.optional(),
  customFunctionPath: z.string().optional(),
};

/** A metric to apply: its name alone, or with what it asks for. */
export const EvalMetric = lenient(metricFields).meta({ id: 'EvalMetric' });
export type EvalMetric = z.infer<typeof EvalMetric>;
export const EvalMetricChoice = z.union([
  z
    .string()
    .min(1)
    .transform((metricName): EvalMetric => ({ metricName })),
  EvalMetric,
]);

/** A judgement with its reason. Where there are no rubrics, `rubricId` is the metric's name. */
export const RubricScore = lenient({
  rubricId: z.string(),
  rationale: z.string().optional(),
  score: z.number().optional(),
});
export type RubricScore = z.infer<typeof RubricScore>;

/** What came of a metric. Why is in `details.rubricScores[].rationale`: the place ADK's files have for it. */
export const EvalMetricResult = lenient({
  ...metricFields,
  score: z.number().optional(),
  evalStatus: EvalStatus,
  details: lenient({ rubricScores: z.array(RubricScore).optional() }).prefault({}),
}).meta({ id: 'EvalMetricResult' });
export type EvalMetricResult = z.infer<typeof EvalMetricResult>;

/** What a metric is about, for people who choose. */
export const MetricInfo = z
  .object({
    metricName: z.string(),
    description: z.string(),
    metricValueInfo: z.object({
      interval: z.object({
        minValue: z.number(),
        openAtMin: z.boolean(),
        maxValue: z.number(),
        openAtMax: z.boolean(),
      }),
    }),
  })
  .meta({ id: 'MetricInfo' });
export type MetricInfo = z.infer<typeof MetricInfo>;
