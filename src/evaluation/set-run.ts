import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { indexTree } from '../agents/tree.ts';
import { AppError, errorText } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { eventTime } from '../core/new-event.ts';
import type { App } from '../core/runtime.ts';
import type { EvalCaseResult, EvalSetResult, UserSimulatorConfig } from '../schemas/eval-result.ts';
import type { EvalCase, EvalSet } from '../schemas/eval-set.ts';
import type { Prices } from '../schemas/prices.ts';
import { judge, unrunnable } from './case-result.ts';
import { type AgentSurroundings, type CaseRun, type CaseTape, runCase } from './case-run.ts';
import { resultIdOf } from './eval-results.ts';
import type { ChosenMetric } from './metrics/all-metrics.ts';
import { type AskModel, askModels } from './metrics/ask-model.ts';
import { type AnswerBook, recordedBook, recordingBook } from './recorded-answers.ts';
import { userOf } from './simulated-user.ts';
import { spreadOf } from './spread.ts';

export type EvalMode = 'live' | 'record' | 'recorded';

export interface SetRunOptions {
  readonly app: App;
  /** Where its cassettes are kept; absent: it cannot be recorded. */
  readonly folder: string | undefined;
  readonly evalSet: EvalSet;
  /** Those of the set to run. */
  readonly cases: readonly EvalCase[];
  readonly metrics: readonly ChosenMetric[];
  readonly surroundings: AgentSurroundings;
  readonly mode: EvalMode;
  readonly repetitions: number;
  /** Cases that run at the same time. */
  readonly concurrency: number;
  readonly userSimulator: UserSimulatorConfig | undefined;
  readonly prices: Prices;
  /** Told of each case once it is judged, in the order they end. */
  readonly onCase: (result: EvalCaseResult) => void;
  /** Keeps the session of a case where it can be looked at. */
  readonly keep: (run: CaseRun, title: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Runs the cases and judges them, each on its own: one that cannot be run fails and the others go on. When the signal
 * aborts, the result holds the cases that were done by then.
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
        await yieldWhenDue(); // models may answer at once
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
  const { app, evalSet, metrics, surroundings, prices, userSimulator: config, signal } = options;
  const { evalCase, repetition } = job;
  const { evalSetId } = evalSet;
  try {
    const tape = tapeOf(options, evalCase);
    if (tape?.mode === 'recorded' && !existsSync(tape.dir)) {
      throw new AppError(
        'eval_not_found',
        'Nothing is recorded of this case yet: run it with --record ("mode": "record")',
      );
    }
    if (tape?.mode === 'record') await rm(tape.dir, { recursive: true, force: true });
    const book = bookOf(tape, askModels(surroundings.models));
    const next = userOf(evalCase, { config, ask: book.ask, signal });
    const run = await runCase(surroundings, { app, evalCase, next, tape, signal });
    await options.keep(run, `${evalSetId} / ${evalCase.evalId}`);
    const result = await judge({
      evalSetId,
      evalCase,
      run,
      metrics,
      agents,
      prices,
      ask: book.ask,
      errors: surroundings.errors,
      repetition,
      signal,
    });
    await book.save();
    return result;
  } catch (error) {
    return signal.aborted ? undefined : unrunnable(evalSetId, evalCase, errorText(error), repetition);
  }
}

function bookOf(tape: CaseTape | undefined, ask: AskModel): AnswerBook {
  if (!tape) return { ask, save: async () => {} };
  return tape.mode === 'record' ? recordingBook(tape.dir, ask) : recordedBook(tape.dir);
}

/** Where the cassette of a case is: its models' answers, and those of its judges. */
function tapeOf({ app, folder, evalSet, mode }: SetRunOptions, { evalId }: EvalCase): CaseTape | undefined {
  if (mode === 'live') return undefined;
  if (folder === undefined) {
    throw new AppError('not_supported', `App "${app.name}" has no folder that recorded answers could be in`);
  }
  const dir = join(folder, '.adk', 'eval_cassettes', segment(evalSet.evalSetId), segment(evalId));
  return { mode, root: folder, dir };
}

const segment = (id: string): string => encodeURIComponent(id).replaceAll('.', '%2E');

/** What the agents of an app are told and may call, as a judge reads it. Tools that are looked up later are left out. */
function agentsText({ rootAgent }: App): string {
  return indexTree(rootAgent)
    .agents.map(({ name, description = '', instruction = '', tools = [] }) => {
      const declared = tools.flatMap((tool) => (tool.kind === 'tool' && tool.declaration ? [tool.declaration] : []));
      const lines = declared.map((declaration) => `tool: ${JSON.stringify(declaration)}`);
      return [`agent ${name}: ${description}`, instruction, ...lines].filter((line) => line !== '').join('\n');
    })
    .join('\n\n');
}
