import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { indexTree } from '../agents/tree.ts';
import { AppError, errorText } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { eventTime } from '../core/events/new-event.ts';
import type { App } from '../core/runtime.ts';
import type { EvalCaseResult, EvalSetResult, UserSimulatorConfig } from '../schemas/evaluation/eval-result.ts';
import type { EvalCase, EvalSet } from '../schemas/evaluation/eval-set.ts';
import type { Prices } from '../schemas/prices.ts';
import { judge, unrunnable } from './case-result.ts';
import { type AgentEnvironment, type CaseRun, type CaseCassette, runCase } from './case-run.ts';
import { resultIdOf } from './eval-results.ts';
import type { ChosenMetric } from './metrics/all-metrics.ts';
import { type AskModel, askModels } from './metrics/ask-model.ts';
import { type RecordedAnswers, replayAnswers, recordAnswers } from './recorded-answers.ts';
import { userOf } from './simulated-user.ts';
import { spreadOf } from './spread.ts';

export type EvalMode = 'live' | 'record' | 'recorded';

export interface SetRunOptions {
  readonly app: App;
  /** The folder for its cassettes; absent: recording is not possible. */
  readonly folder: string | undefined;
  readonly evalSet: EvalSet;
  /** The cases of the set to run. */
  readonly cases: readonly EvalCase[];
  readonly metrics: readonly ChosenMetric[];
  readonly environment: AgentEnvironment;
  readonly mode: EvalMode;
  readonly repetitions: number;
  /** Number of cases that run at the same time. */
  readonly concurrency: number;
  readonly userSimulator: UserSimulatorConfig | undefined;
  readonly prices: Prices;
  /** Called with each case after it was judged, in the order they end. */
  readonly onCase: (result: EvalCaseResult) => void;
  /** Stores the session of a case for views. */
  readonly keep: (run: CaseRun, title: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Runs and judges the cases independently: a case that cannot run fails, and the others continue. When the signal aborts,
 * the result contains the cases that have ended.
 */
export async function runSet(options: SetRunOptions): Promise<EvalSetResult> {
  const { app, evalSet, cases, repetitions, mode, signal } = options;
  const limit = pLimit(options.concurrency);
  const agents = agentsText(app);
  const jobs = Array.from({ length: repetitions }, (_, index) => index + 1).flatMap((repetition) =>
    cases.map((evalCase) => ({ evalCase, repetition })),
  );
  const results = await Promise.all(
    jobs.map((job) =>
      limit(async () => {
        if (signal.aborted) return undefined;
        await yieldWhenDue(); // scripted models answer without waiting
        const result = await runJob(options, agents, job);
        if (result) options.onCase(result);
        return result;
      }),
    ),
  );
  const done = results.filter((result) => result !== undefined);
  const creationTimestamp = eventTime();
  const evalSetResultId = resultIdOf(app.name, evalSet.evalSetId, creationTimestamp);
  return {
    evalSetResultId,
    evalSetResultName: evalSetResultId,
    evalSetId: evalSet.evalSetId,
    evalCaseResults: done,
    creationTimestamp,
    mode,
    ...(signal.aborted && { cancelled: true }),
    ...(repetitions > 1 && { spread: spreadOf(done) }),
  };
}

interface Job {
  readonly evalCase: EvalCase;
  readonly repetition: number;
}

/** `undefined` when the run was cancelled. */
async function runJob(options: SetRunOptions, agents: string, job: Job): Promise<EvalCaseResult | undefined> {
  const { app, evalSet, metrics, environment, prices, userSimulator: config, signal } = options;
  const { evalCase, repetition } = job;
  const { evalSetId } = evalSet;
  try {
    const cassette = cassetteOf(options, evalCase);
    if (cassette?.mode === 'recorded' && !existsSync(cassette.dir)) {
      throw new AppError(
        'eval_not_found',
        'Nothing is recorded of this case yet: run it with --record ("mode": "record")',
      );
    }
    if (cassette?.mode === 'record') await rm(cassette.dir, { recursive: true, force: true });
    const answers = answersFor(cassette, askModels(environment.models));
    const next = userOf(evalCase, { config, ask: answers.ask, signal });
    const run = await runCase(environment, { app, evalCase, next, cassette, signal });
    await options.keep(run, `${evalSetId} / ${evalCase.evalId}`);
    const result = await judge({
      evalSetId,
      evalCase,
      run,
      metrics,
      agents,
      prices,
      ask: answers.ask,
      errors: environment.errors,
      repetition,
      signal,
    });
    await answers.save();
    return result;
  } catch (error) {
    return signal.aborted ? undefined : unrunnable(evalSetId, evalCase, errorText(error), repetition);
  }
}

function answersFor(cassette: CaseCassette | undefined, ask: AskModel): RecordedAnswers {
  if (!cassette) return { ask, save: async () => {} };
  return cassette.mode === 'record' ? recordAnswers(cassette.dir, ask) : replayAnswers(cassette.dir);
}

/** The cassette of a case, with the responses of its models and judges. */
function cassetteOf({ app, folder, evalSet, mode }: SetRunOptions, { evalId }: EvalCase): CaseCassette | undefined {
  if (mode === 'live') return undefined;
  if (folder === undefined) {
    throw new AppError('not_supported', `App "${app.name}" has no folder that recorded answers could be in`);
  }
  const dir = join(folder, '.adk', 'eval_cassettes', segment(evalSet.evalSetId), segment(evalId));
  return { mode, root: folder, dir };
}

const segment = (id: string): string => encodeURIComponent(id).replaceAll('.', '%2E');

/** The instructions and tools of an app's agents, as text for a judge. Tools of toolsets are left out. */
function agentsText({ rootAgent }: App): string {
  return indexTree(rootAgent)
    .agents.map(({ name, description = '', instruction = '', tools = [] }) => {
      const declared = tools.flatMap((tool) => (tool.kind === 'tool' && tool.declaration ? [tool.declaration] : []));
      const lines = declared.map((declaration) => `tool: ${JSON.stringify(declaration)}`);
      return [`agent ${name}: ${description}`, instruction, ...lines].filter((line) => line !== '').join('\n');
    })
    .join('\n\n');
}
