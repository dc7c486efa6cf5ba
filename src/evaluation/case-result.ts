import type { ErrorPolicy } from '../base/error-policy.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { type EvalMetricResult, evalStatus, type EvalStatus } from '../schemas/evaluation/eval-metric.ts';
import type { EvalCaseResult, EvalMetricResultPerInvocation } from '../schemas/evaluation/eval-result.ts';
import type { EvalCase, Invocation } from '../schemas/evaluation/eval-set.ts';
import type { Prices } from '../schemas/prices.ts';
import type { CaseRun } from './case-run.ts';
import type { ChosenMetric } from './metrics/all-metrics.ts';
import type { AskModel } from './metrics/ask-model.ts';
import { applyMetric } from './metrics/metric.ts';

export interface JudgingOptions {
  readonly evalSetId: string;
  readonly evalCase: EvalCase;
  readonly run: CaseRun;
  readonly metrics: readonly ChosenMetric[];
  readonly agents: string;
  readonly prices: Prices;
  readonly ask: AskModel;
  readonly errors: ErrorPolicy | undefined;
  readonly repetition: number;
  readonly signal: AbortSignal;
}

/** Applies the metrics to a conversation. Throws only when the signal aborts. */
export async function judge(options: JudgingOptions): Promise<EvalCaseResult> {
  const { evalSetId, evalCase, run, metrics, repetition } = options;
  const expected = evalCase.conversation;
  const actual = expected ? aligned(run.invocations, expected) : run.invocations;
  const turns: EvalMetricResultPerInvocation[] = actual.map((actualInvocation, index) => ({
    actualInvocation,
    ...(expected?.[index] && { expectedInvocation: expected[index] }),
    evalMetricResults: [],
  }));
  const overall: EvalMetricResult[] = [];
  for (const { metric, settings } of metrics) {
    await yieldWhenDue();
    const { ask, errors, agents, prices, signal } = options;
    const applied = await applyMetric(metric, {
      metric: settings,
      evalCase,
      actual,
      expected,
      agents,
      prices,
      ask,
      errors,
      signal,
    });
    overall.push(applied.overall);
    for (const [index, turn] of turns.entries()) {
      const result = applied.turns[index];
      if (result) turn.evalMetricResults.push(withFault(result, faultOfTurn(run, index)));
    }
  }
  return {
    evalSetFile: evalSetId,
    evalSetId,
    evalId: evalCase.evalId,
    finalEvalStatus: run.errorMessage === undefined ? finalStatus(overall) : evalStatus.failed,
    evalMetricResults: [],
    overallEvalMetricResults: overall,
    evalMetricResultPerInvocation: turns,
    sessionId: run.session.id,
    userId: run.session.userId,
    sessionDetails: run.session,
    repetition,
    ...(run.errorMessage !== undefined && { errorMessage: run.errorMessage }),
  };
}

/** The result of a case that could not be started. */
export function unrunnable(
  evalSetId: string,
  { evalId }: EvalCase,
  errorMessage: string,
  repetition: number,
): EvalCaseResult {
  return {
    evalSetFile: evalSetId,
    evalSetId,
    evalId,
    finalEvalStatus: evalStatus.failed,
    evalMetricResults: [],
    overallEvalMetricResults: [],
    evalMetricResultPerInvocation: [],
    sessionId: '',
    repetition,
    errorMessage,
  };
}

/** Adds empty turns for expected turns that were not reached. */
function aligned(actual: readonly Invocation[], expected: readonly Invocation[]): Invocation[] {
  return expected.map(
    ({ userContent }, index) => actual[index] ?? { invocationId: '', userContent, creationTimestamp: 0 },
  );
}

/** The fault of a turn in a failed conversation: it failed in the first turn without an answer; later ones were not reached. */
function faultOfTurn({ errorMessage, invocations }: CaseRun, index: number): string | undefined {
  if (errorMessage === undefined) return undefined;
  const last = invocations.length - 1;
  const brokeOff = invocations[last]?.finalResponse === undefined ? Math.max(last, 0) : last;
  if (index < brokeOff) return undefined;
  return index === brokeOff ? `The run failed: ${errorMessage}` : `Not reached: ${errorMessage}`;
}

/** The result, with the turn's fault before the metric's own reason. */
function withFault(result: EvalMetricResult, fault: string | undefined): EvalMetricResult {
  if (fault === undefined) return result;
  const { rubricScores = [] } = result.details;
  return { ...result, details: { rubricScores: [{ rubricId: 'run', rationale: fault }, ...rubricScores] } };
}

/** Failed if any metric failed, else passed if any passed. Metrics that were not evaluated do not count, as in ADK. */
function finalStatus(results: readonly EvalMetricResult[]): EvalStatus {
  const statuses = results.map((result) => result.evalStatus);
  if (statuses.includes(evalStatus.failed)) return evalStatus.failed;
  return statuses.includes(evalStatus.passed) ? evalStatus.passed : evalStatus.notEvaluated;
}
