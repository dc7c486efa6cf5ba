import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { provideAgentImports } from '../app/agent-imports.ts';
import type { Config } from '../app/config.ts';
import type { Engine } from '../app/engine.ts';
import { AppError, errorText } from '../base/errors.ts';
import { isClean, outcomeOf } from '../evaluation/case-outcome.ts';
import { configIn } from '../evaluation/eval-config.ts';
import { runsOf } from '../evaluation/eval-results.ts';
import { parseEvalSet, setIdOfFile } from '../evaluation/eval-sets.ts';
import type { EvalProgress } from '../evaluation/evaluations.ts';
import type { EvalMetric } from '../schemas/evaluation/eval-metric.ts';
import { type EvalSetResult, RunEvalRequest } from '../schemas/evaluation/eval-result.ts';
import type { EvalSet } from '../schemas/evaluation/eval-set.ts';
import { changesText, junitOf, tableOf } from './eval-report.ts';
import { checkApp, engineFor, onlyApp, placeOf } from './terminal-engine.ts';
import { UsageError } from './usage-error.ts';

export interface EvalOptions {
  /** The app's name or folder, then the sets. */
  readonly operands: readonly string[];
  readonly flags: ReadonlyMap<string, string | true>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

interface Chosen {
  readonly set: EvalSet;
  readonly cases: readonly string[];
}

/**
 * Runs evaluation sets and prints the results. Resolves with 1 if a case did not pass, or got worse than in the baseline.
 * Throws UsageError for an app, set or file that does not exist.
 */
export async function evaluateSets(config: Config, options: EvalOptions): Promise<number> {
  const { operands, flags, env, cwd } = options;
  const place = placeOf(config, operands[0], cwd);
  provideAgentImports();
  const engine = engineFor(place.config, env);
  try {
    const appName = place.app ?? onlyApp(engine);
    checkApp(appName, engine);
    const sets = await chosenSets(engine, appName, options);
    const request = await requestFor(engine, appName, options);
    const leaving = new AbortController();
    process.once('SIGINT', () => leaving.abort(new AppError('run_cancelled', 'Cancelled at the terminal')));

    const results: EvalSetResult[] = [];
    let isWorse = false;
    for (const { set, cases } of sets) {
      if (leaving.signal.aborted) break;
      const baseline = await baselineFor(engine, appName, set.evalSetId, textOf(flags, 'baseline'));
      const whole = { ...request, evalCaseIds: [...request.evalCaseIds, ...cases] };
      const run = { onProgress: progressBar(set.evalSetId), signal: leaving.signal };
      const result = await engine.evaluations.runSet(appName, set, whole, run);
      await engine.evaluations.results.save(appName, result);
      results.push(result);
      if (textOf(flags, 'json') !== '-') process.stdout.write(tableOf(result));
      if (baseline === undefined) continue;
      const comparison = await engine.evaluations.compare(appName, baseline, result.evalSetResultId);
      isWorse ||= comparison.counts.regressed + comparison.counts.missing > 0;
      process.stderr.write(changesText(comparison));
    }
    writeReports(appName, results, options);
    const isDone = results.length === sets.length && results.every(isClean);
    return isDone && !isWorse ? 0 : 1;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // The named thing does not exist or cannot be read: a usage error. Other errors are the app's.
    const isCallers = ['invalid_request', 'eval_not_found', 'app_not_found'].includes(error.code);
    if (isCallers) throw new UsageError(errorText(error));
    process.stderr.write(`${errorText(error)}\n`);
    return 1;
  } finally {
    await engine.runner.close();
    await engine.databases.close();
  }
}

/** The sets named, or all of the app. `set:a,b` and `file.json:a,b` mean some cases of one. */
async function chosenSets({ evaluations }: Engine, appName: string, { operands, cwd }: EvalOptions): Promise<Chosen[]> {
  const named = operands.slice(1);
  const names = named.length > 0 ? named : await evaluations.sets.list(appName);
  if (names.length === 0) throw new UsageError(`App "${appName}" has no evaluation sets`);
  const chosen: Chosen[] = [];
  for (const name of names) {
    const colon = name.lastIndexOf(':');
    const [place, cases] = colon > 1 ? [name.slice(0, colon), listOf(name.slice(colon + 1))] : [name, []];
    const isFile = place.endsWith('.json') || /[/\\]/.test(place);
    const set = isFile ? setIn(resolve(cwd, place)) : await evaluations.sets.get(appName, place);
    chosen.push({ set, cases });
  }
  return chosen;
}

const setIn = (file: string): EvalSet => parseEvalSet(textIn(file), setIdOfFile(file));

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`"${file}" cannot be read`);
  }
}

async function requestFor(
  { evaluations }: Engine,
  appName: string,
  { flags, cwd }: EvalOptions,
): Promise<RunEvalRequest> {
  const [names, criteria] = [textOf(flags, 'metrics'), textOf(flags, 'criteria')];
  const thresholds = thresholdsIn(textOf(flags, 'threshold'));
  const inFile = criteria === undefined ? undefined : configIn(textIn(resolve(cwd, criteria)), criteria);
  const { metrics: usual, userSimulator } = inFile ?? (await evaluations.configOf(appName));
  const metrics = names === undefined ? usual : listOf(names).map((metricName): EvalMetric => ({ metricName }));
  if (flags.has('record') && flags.has('recorded')) throw new UsageError('Use either --record or --recorded, not both');
  const mode = flags.has('record') ? 'record' : flags.has('recorded') ? 'recorded' : undefined;
  return RunEvalRequest.parse({
    evalMetrics: metrics.map((metric) => withThreshold(metric, thresholds)),
    evalCaseIds: listOf(textOf(flags, 'case') ?? ''),
    ...countFlag(flags, 'repeat', 'repetitions', 100),
    ...countFlag(flags, 'concurrency', 'concurrency', 64),
    ...(mode !== undefined && { mode }),
    ...(userSimulator && { userSimulatorConfig: userSimulator }),
  });
}

/** Thresholds by metric; the one for all metrics is under `*`. */
function thresholdsIn(text: string | undefined): ReadonlyMap<string, number> {
  const entries = listOf(text ?? '').map((entry) => {
    const [name = '', value] = entry.includes('=') ? entry.split('=', 2) : ['*', entry];
    const threshold = Number(value);
    if (value === '' || !Number.isFinite(threshold)) throw new UsageError(`--threshold: "${entry}" is not a number`);
    return [name, threshold] as const;
  });
  return new Map(entries);
}

function withThreshold(metric: EvalMetric, thresholds: ReadonlyMap<string, number>): EvalMetric {
  const threshold = thresholds.get(metric.metricName) ?? thresholds.get('*');
  return threshold === undefined ? metric : { ...metric, threshold, criterion: { ...metric.criterion, threshold } };
}

function countFlag(flags: EvalOptions['flags'], flag: string, key: string, most: number): object {
  const text = textOf(flags, flag);
  if (text === undefined) return {};
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return { [key]: count };
  throw new UsageError(`--${flag} must be a whole number from 1 to ${most}`);
}

/** The result to compare with; "latest" is the newest one of the set. */
async function baselineFor(
  { evaluations }: Engine,
  appName: string,
  setId: string,
  baseline: string | undefined,
): Promise<string | undefined> {
  if (baseline !== 'latest') return baseline;
  return runsOf(appName, setId, await evaluations.results.list(appName))[0];
}

/** Draws a progress bar if stderr is a terminal. */
function progressBar(setId: string): (progress: EvalProgress) => void {
  const width = 30;
  let failed = 0;
  return (progress) => {
    if (!process.stderr.isTTY) return;
    if (progress.type !== 'case') return;
    if (outcomeOf(progress.result) !== 'passed') failed += 1;
    const { done, total } = progress;
    const bar = '#'.repeat(Math.round((done / total) * width)).padEnd(width, '.');
    process.stderr.write(`\r\u001b[K${done < total ? `${setId} [${bar}] ${done}/${total}, ${failed} failed` : ''}`);
  };
}

function writeReports(appName: string, results: readonly EvalSetResult[], { flags, cwd }: EvalOptions): void {
  const json = textOf(flags, 'json');
  const junit = textOf(flags, 'junit');
  const text = `${JSON.stringify({ ok: results.every(isClean), app: appName, results }, null, 2)}\n`;
  if (json === '-') process.stdout.write(text);
  else if (json !== undefined) writeFileSync(resolve(cwd, json), text);
  if (junit !== undefined) writeFileSync(resolve(cwd, junit), junitOf(appName, results));
}

function textOf(flags: EvalOptions['flags'], flag: string): string | undefined {
  const value = flags.get(flag);
  return typeof value === 'string' ? value : undefined;
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
