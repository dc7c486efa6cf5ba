import { randomUUID } from 'node:crypto';
import { LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { AgentLoader, App } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import type { MetricInfo } from '../schemas/evaluation/eval-metric.ts';
import type {
  EvalCaseResult,
  EvalRunSummary,
  EvalSetResult,
  RunComparison,
  RunEvalRequest,
} from '../schemas/evaluation/eval-result.ts';
import type { EvalCase, EvalSet } from '../schemas/evaluation/eval-set.ts';
import type { Prices } from '../schemas/prices.ts';
import { isEvaluationSession, type SessionKey } from '../schemas/session.ts';
import { AppTests } from './app-tests.ts';
import { summaryOf } from './case-outcome.ts';
import type { AgentEnvironment } from './case-run.ts';
import { compareRuns } from './compare.ts';
import { type AppEvaluation, configOfApp } from './eval-config.ts';
import { evalFiles } from './eval-files.ts';
import { EvalResults, runsOf } from './eval-results.ts';
import { EvalSets } from './eval-sets.ts';
import { EvaluationSessions } from './evaluation-sessions.ts';
import { caseOfSession } from './invocations.ts';
import { chooseMetrics, metricInfos } from './metrics/all-metrics.ts';
import { type EvalMode, runSet } from './set-run.ts';

export interface EvaluationsOptions extends AgentEnvironment {
  readonly loader: AgentLoader;
  /** The services with the sessions that become cases, and for the sessions of evaluations. */
  readonly services: Services;
  /** The real path of an app's folder. Absent: the loaded app names it. Throws `app_not_found`. */
  readonly folderOf?: (appName: string) => Promise<string | undefined>;
  /** Prices of models, by the start of their names. */
  readonly prices?: Prices;
}

/** Progress of a run: the frames of its event stream. */
export type EvalProgress =
  | { readonly type: 'started'; readonly runId: string; readonly evalSetId: string; readonly total: number }
  | { readonly type: 'case'; readonly done: number; readonly total: number; readonly result: EvalCaseResult }
  | { readonly type: 'finished'; readonly evalSetResultId: string; readonly cancelled: boolean };

export interface RunOptions {
  readonly onProgress?: (progress: EvalProgress) => void;
  readonly signal: AbortSignal;
}

export interface AddSession extends SessionKey {
  readonly evalId: string;
  /** Only these turns; absent: all. */
  readonly invocationIds?: readonly string[] | undefined;
}

/** Cases of one run, repetitions included: their result is one file. */
const maxCaseRuns = 10_000;
const defaultConcurrency = 4;

/** The evaluations of all apps: sets, runs, results and tests. */
export class Evaluations {
  readonly sets: EvalSets;
  readonly results: EvalResults;
  readonly tests: AppTests;
  readonly #options: EvaluationsOptions;
  readonly #folderOf: NonNullable<EvaluationsOptions['folderOf']>;
  readonly #evaluationSessions: EvaluationSessions;
  readonly #running = new Map<string, { readonly appName: string; readonly abort: LinkedAbort }>();

  constructor(options: EvaluationsOptions) {
    this.#options = options;
    const { loader, folderOf = async (appName) => (await loader.loadAgent(appName)).folder } = options;
    this.#folderOf = folderOf;
    const files = evalFiles(folderOf);
    this.sets = new EvalSets(files);
    this.results = new EvalResults(files);
    this.tests = new AppTests(loader, files, options);
    this.#evaluationSessions = new EvaluationSessions(options.services, options.log);
  }

  /** Adds a session's turns to a set. Throws `session_not_found`, `eval_not_found`, `eval_exists`, `invalid_request`. */
  async addSession(setId: string, { evalId, invocationIds, ...key }: AddSession): Promise<EvalCase> {
    const session = await this.#options.services.sessions.getSession(key);
    if (!session) throw new AppError('session_not_found', `Session not found: ${key.sessionId}`);
    const evalCase = caseOfSession(session, { evalId, invocationIds });
    if (evalCase.conversation?.length === 0) {
      throw new AppError('invalid_request', `Session "${key.sessionId}" has no such turns to make a case of`);
    }
    await this.sets.addCase(key.appName, setId, evalCase);
    return evalCase;
  }

  /** The metrics for an app, including its own. */
  async metricInfos(appName: string): Promise<MetricInfo[]> {
    return metricInfos((await this.#options.loader.loadAgent(appName)).metrics);
  }

  /** The settings in the app's config file, or the defaults. */
  async configOf(appName: string): Promise<AppEvaluation> {
    return configOfApp(await this.#folderOf(appName));
  }

  /** Runs a set, or some of its cases, and stores the result, also after a cancellation. */
  async run(appName: string, setId: string, request: RunEvalRequest, options: RunOptions): Promise<EvalSetResult> {
    const evalSet = await this.sets.get(appName, setId);
    const result = await this.runSet(appName, evalSet, request, options);
    await this.results.save(appName, result);
    const { evalSetResultId, cancelled = false } = result;
    options.onProgress?.({ type: 'finished', evalSetResultId, cancelled });
    return result;
  }

  /** The same for any set, without storing the result. */
  async runSet(
    appName: string,
    evalSet: EvalSet,
    request: RunEvalRequest,
    options: RunOptions,
  ): Promise<EvalSetResult> {
    const { loader } = this.#options;
    const app = await loader.loadAgent(appName);
    const release = loader.retain?.(app);
    const abort = new LinkedAbort(options.signal);
    const runId = `eval-${randomUUID()}`;
    this.#running.set(runId, { appName, abort });
    try {
      const chosen = await this.#chosen(app, evalSet, request);
      const total = chosen.cases.length * chosen.repetitions;
      let done = 0;
      const onCase = (result: EvalCaseResult): void => {
        done += 1;
        options.onProgress?.({ type: 'case', done, total, result });
      };
      options.onProgress?.({ type: 'started', runId, evalSetId: evalSet.evalSetId, total });
      const keep = this.#evaluationSessions.keep.bind(this.#evaluationSessions);
      return await runSet({ ...chosen, onCase, keep, signal: abort.signal });
    } finally {
      this.#running.delete(runId);
      abort[Symbol.dispose]();
      release?.();
    }
  }

  /** The options of a request, with defaults filled in. */
  async #chosen(app: App, evalSet: EvalSet, request: RunEvalRequest) {
    const { loader: _, services, folderOf: __, prices = {}, ...others } = this.#options;
    const environment = { ...others, prices, usage: services.usage };
    const folder = await this.#folderOf(app.name);
    const { repetitions = 1, concurrency = defaultConcurrency } = request;
    const cases = casesFor(evalSet, request);
    const mode = modeFor(evalSet, request);
    if (cases.length * repetitions > maxCaseRuns) {
      throw new AppError(
        'too_large',
        `A run takes at most ${maxCaseRuns} cases, each counted as often as it is repeated`,
      );
    }
    if (mode === 'record' && repetitions > 1) {
      throw new AppError('invalid_request', 'A recording takes one run of each case: leave out "repetitions"');
    }
    const defaults = await configOfApp(folder);
    const requested = request.evalMetrics.length > 0 ? request.evalMetrics : defaults.metrics;
    const metrics = chooseMetrics(requested, app.metrics);
    const userSimulator = request.userSimulatorConfig ?? defaults.userSimulator;
    const how = { mode, repetitions, concurrency, userSimulator, prices };
    return { app, folder, evalSet, cases, metrics, environment, ...how };
  }

  /** Cancels a run: its result contains the finished cases. Throws `run_not_found`. */
  cancel(appName: string, runId: string): void {
    const running = this.#running.get(runId);
    if (running?.appName !== appName) throw new AppError('run_not_found', `Evaluation run "${runId}" is not running`);
    running.abort.abort(new AppError('run_cancelled', 'The evaluation was cancelled'));
  }

  /** The newest runs of a set, newest first. Invalid files are skipped. */
  async summaries(appName: string, setId: string, limit: number): Promise<EvalRunSummary[]> {
    const summaries: EvalRunSummary[] = [];
    for (const id of runsOf(appName, setId, await this.results.list(appName))) {
      if (summaries.length >= limit) break;
      const result = await this.results.get(appName, id).catch(() => undefined);
      if (result) summaries.push(summaryOf(result));
    }
    return summaries;
  }

  /** Restores the session of an evaluated case from its result; false if no result contains it. */
  async restore({ appName, sessionId }: SessionKey): Promise<boolean> {
    if (!isEvaluationSession(sessionId)) return false;
    const found = await this.results.sessionOf(appName, sessionId).catch(() => undefined);
    return found !== undefined && (await this.#evaluationSessions.restore(found.session, found.title));
  }

  /** Compares two runs. Throws `eval_not_found`. */
  async compare(appName: string, before: string, after: string): Promise<RunComparison> {
    return compareRuns(await this.results.get(appName, before), await this.results.get(appName, after));
  }
}

/** The cases that a request names, in the order of the set; all if it names none. Throws `eval_not_found`. */
function casesFor({ evalCases }: EvalSet, { evalCaseIds, evalIds }: RunEvalRequest): readonly EvalCase[] {
  const wanted = new Set([...evalCaseIds, ...evalIds]);
  if (wanted.size === 0) return evalCases;
  const known = new Set(evalCases.map(({ evalId }) => evalId));
  const unknown = [...wanted].find((id) => !known.has(id));
  if (unknown === undefined) return evalCases.filter(({ evalId }) => wanted.has(evalId));
  throw new AppError('eval_not_found', `Evaluation case not found: ${unknown}`);
}

function modeFor(evalSet: EvalSet, request: RunEvalRequest): EvalMode {
  const mode = request.mode ?? evalSet.modelExecutionMode ?? 'live';
  return mode === 'replay' ? 'recorded' : mode;
}
