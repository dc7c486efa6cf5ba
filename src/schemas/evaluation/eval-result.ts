import { z } from 'zod';
import { Event, Timestamp } from '../event-schema.ts';
import { lenient } from '../lenient.ts';
import { scriptSchema } from '../script.ts';
import { State } from '../session-schema.ts';
import { Criterion, EvalMetricChoice, EvalMetricResult, EvalStatus } from './eval-metric.ts';
import { ExecutionMode, Invocation } from './eval-set.ts';

/** What the metrics say of one turn, beside what was expected of it. */
export const EvalMetricResultPerInvocation = lenient({
  actualInvocation: Invocation,
  expectedInvocation: Invocation.optional(),
  evalMetricResults: z.array(EvalMetricResult).default([]),
});
export type EvalMetricResultPerInvocation = z.infer<typeof EvalMetricResultPerInvocation>;

const SessionDetails = lenient({
  id: z.string(),
  appName: z.string(),
  userId: z.string(),
  state: State.default({}),
  events: z.array(Event).default([]),
  lastUpdateTime: z.number().default(0),
});

/** What came of one case. `repetition` counts from 1; `errorMessage` is why the agent could not be run to the end. */
export const EvalCaseResult = lenient({
  evalSetFile: z.string().default(''),
  evalSetId: z.string().default(''),
  evalId: z.string().default(''),
  finalEvalStatus: EvalStatus,
  /** Deprecated pairs of metric and result: always empty in what is stored. */
  evalMetricResults: z.array(z.unknown()).default([]),
  overallEvalMetricResults: z.array(EvalMetricResult).default([]),
  evalMetricResultPerInvocation: z.array(EvalMetricResultPerInvocation).default([]),
  sessionId: z.string(),
  userId: z.string().optional(),
  sessionDetails: SessionDetails.optional(),
  repetition: z.number().int().optional(),
  errorMessage: z.string().optional(),
}).meta({ id: 'EvalCaseResult' });
export type EvalCaseResult = z.infer<typeof EvalCaseResult>;

/** The scores of one metric over the repetitions of a case. */
export const Spread = lenient({
  evalId: z.string(),
  metricName: z.string(),
  runs: z.number().int(),
  passed: z.number().int(),
  mean: z.number(),
  min: z.number(),
  max: z.number(),
  /** Standard deviation of all repetitions, not of a sample. */
  deviation: z.number(),
});
export type Spread = z.infer<typeof Spread>;

/** What came of a run of a set. The id ends in `creationTimestamp` as JavaScript prints it: ADK's UI builds it so. */
export const EvalSetResult = lenient({
  evalSetResultId: z.string(),
  evalSetResultName: z.string().optional(),
  evalSetId: z.string(),
  evalCaseResults: z.array(EvalCaseResult).default([]),
  creationTimestamp: Timestamp.default(0),
  mode: ExecutionMode.optional(),
  /** True when the run was cancelled: later cases have no result. */
  cancelled: z.boolean().optional(),
  spread: z.array(Spread).optional(),
}).meta({ id: 'EvalSetResult' });
export type EvalSetResult = z.infer<typeof EvalSetResult>;

/** A run in a line: how many of its cases passed, failed, and could not be run or evaluated. */
export const EvalRunSummary = z
  .object({
    evalSetResultId: z.string(),
    evalSetId: z.string(),
    creationTimestamp: z.number(),
    mode: ExecutionMode.optional(),
    cancelled: z.boolean(),
    passed: z.number().int(),
    failed: z.number().int(),
    errors: z.number().int(),
  })
  .meta({ id: 'EvalRunSummary' });
export type EvalRunSummary = z.infer<typeof EvalRunSummary>;

/** Who speaks for the user of a scenario. `scripted`: the given messages in order, then the conversation ends. */
export const UserSimulatorConfig = lenient({
  type: z.string().optional(),
  model: z.string().optional(),
  modelConfiguration: z.record(z.string(), z.unknown()).optional(),
  /** Default 20; -1 is no limit but the server's, 100. */
  maxAllowedInvocations: z.number().int().optional(),
  customInstructions: z.string().optional(),
  stopSignal: z.string().min(1).optional(),
  messages: z.array(z.string()).optional(),
  /** Answers when the model is `scripted`, or has no credentials here. */
  script: scriptSchema().optional(),
});
export type UserSimulatorConfig = z.infer<typeof UserSimulatorConfig>;

/** The file `test_config.json` beside an app: which metrics to apply, by name, each with a threshold or a criterion. */
export const EvalConfig = lenient({
  criteria: z.record(z.string(), z.union([z.number(), Criterion])).default({}),
  customMetrics: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  userSimulatorConfig: UserSimulatorConfig.optional(),
}).meta({ id: 'EvalConfig' });
export type EvalConfig = z.infer<typeof EvalConfig>;

/** Body of a run. No ids: all cases. No metrics: those of the app's `test_config.json`, or the two that ADK applies. */
export const RunEvalRequest = lenient({
  evalCaseIds: z.array(z.string()).default([]),
  /** Deprecated name of `evalCaseIds`. */
  evalIds: z.array(z.string()).default([]),
  evalMetrics: z.array(EvalMetricChoice).max(100).default([]),
  userSimulatorConfig: UserSimulatorConfig.optional(),
  liveModelConfig: z.record(z.string(), z.unknown()).optional(),
  /** How often each case is run. Default 1. */
  repetitions: z.number().int().min(1).max(100).optional(),
  /** Cases that run at the same time. Default 4. */
  concurrency: z.number().int().min(1).max(64).optional(),
  /** Default: what the set says, else `live`. */
  mode: ExecutionMode.optional(),
}).meta({ id: 'RunEvalRequest' });
export type RunEvalRequest = z.infer<typeof RunEvalRequest>;

/** A case result as a run answers it: with the app's name, and the pairs that older clients read. */
export const RunEvalResult = EvalCaseResult.meta({ id: 'RunEvalResult' });

/** What became of a case or metric in a later run, worst first. */
export const changes = ['regressed', 'missing', 'improved', 'added', 'same'] as const;
export const Change = z.enum(changes);
export type Change = z.infer<typeof Change>;

/** How one metric of one case did in two runs; with repetitions, on average. `reason`: why it did not pass later. */
export const MetricChange = z.object({
  metricName: z.string(),
  change: Change,
  before: z.number().optional(),
  after: z.number().optional(),
  statusBefore: EvalStatus.optional(),
  statusAfter: EvalStatus.optional(),
  reason: z.string().optional(),
});
export type MetricChange = z.infer<typeof MetricChange>;

/** One case in two runs, with the sessions to look at. */
export const CaseChange = z.object({
  evalId: z.string(),
  change: Change,
  statusBefore: EvalStatus.optional(),
  statusAfter: EvalStatus.optional(),
  metrics: z.array(MetricChange),
  sessionBefore: z.string().optional(),
  sessionAfter: z.string().optional(),
});
export type CaseChange = z.infer<typeof CaseChange>;

/** What is different in a later run: regressions first; of one kind in the order of the later run. */
export const RunComparison = z
  .object({
    before: z.string(),
    after: z.string(),
    counts: z.record(Change, z.number().int()),
    cases: z.array(CaseChange),
  })
  .meta({ id: 'RunComparison' });
export type RunComparison = z.infer<typeof RunComparison>;
