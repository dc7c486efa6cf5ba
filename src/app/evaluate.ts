import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import type { ModelRegistry } from '../core/model.ts';
import type { AgentLoader, App } from '../core/runtime.ts';
import { faultsOf, isClean, outcomeOf } from '../evaluation/case-outcome.ts';
import { parseEvalSet, setIdOfFile } from '../evaluation/eval-sets.ts';
import { Evaluations } from '../evaluation/evaluations.ts';
import { agentFolders } from '../loaders/agent-folders.ts';
import { DirectoryLoader } from '../loaders/directory-loader.ts';
import { staticLoader } from '../loaders/static.ts';
import { createModelRegistry } from '../models/registry.ts';
import { RunEvalRequest } from '../schemas/evaluation/eval-result.ts';
import type { EvalSetResult } from '../schemas/evaluation/eval-result.ts';
import type { EvalSet } from '../schemas/evaluation/eval-set.ts';
import { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
import { InMemorySessions } from '../services/sessions/in-memory.ts';
import { provideAgentImports } from './agent-imports.ts';

/** Options of an evaluation run, as in the request body of the route: `evalMetrics`, `repetitions`, `mode` and so on. */
export interface EvaluateOptions extends Partial<Omit<RunEvalRequest, 'evalMetrics'>> {
  /** Names, or objects with a threshold or criterion. */
  readonly evalMetrics?: readonly (string | object)[];
  /** Default: the models whose keys are in the environment. */
  readonly models?: ModelRegistry;
  /** Ends the evaluation early. */
  readonly signal?: AbortSignal;
}

/**
 * Runs an evaluation set in a test: `await evaluate('agents/weather', 'smoke')`. `app` is an App or its folder; `set` is
 * an EvalSet, the name of a set beside the app, or a file. Throws EvaluationFailed if a case did not pass.
 */
export async function evaluate(
  app: App | string,
  set: EvalSet | string,
  options: EvaluateOptions = {},
): Promise<EvalSetResult> {
  const {
    models = createModelRegistry({ env: process.env }),
    signal = new AbortController().signal,
    ...asked
  } = options;
  const request = RunEvalRequest.parse(asked);
  provideAgentImports();
  const loader = typeof app === 'string' ? folderLoader(app) : staticLoader([app]);
  try {
    const appName = await nameOf(app, loader);
    const { folder } = await loader.loadAgent(appName);
    const services = { sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts() };
    const evaluations = new Evaluations({ loader, services, models });
    const evalSet = typeof set === 'string' ? await setNamed(set, appName, evaluations, folder) : set;
    const result = await evaluations.runSet(appName, evalSet, request, { signal });
    if (!isClean(result)) throw new EvaluationFailed(result);
    return result;
  } finally {
    await loader.close();
  }
}

/** Some cases did not pass. The message names them and the reasons; `result` is the whole result. */
export class EvaluationFailed extends Error {
  override readonly name = 'EvaluationFailed';
  readonly result: EvalSetResult;

  constructor(result: EvalSetResult) {
    const failed = result.evalCaseResults.filter((one) => outcomeOf(one) !== 'passed');
    const lines = failed.flatMap((one) => [one.evalId, ...faultsOf(one).map((line) => `  ${line}`)]);
    const count = `${failed.length} of ${result.evalCaseResults.length} cases did not pass`;
    super([`${result.evalSetId}: ${result.cancelled ? 'cancelled, ' : ''}${count}`, ...lines].join('\n'));
    this.result = result;
  }
}

function folderLoader(folder: string): AgentLoader {
  return new DirectoryLoader({ find: agentFolders(resolve(folder)), hotReload: false });
}

async function nameOf(app: App | string, loader: AgentLoader): Promise<string> {
  if (typeof app !== 'string') return app.name;
  const [name, ...others] = await loader.listAgents();
  if (name !== undefined && others.length === 0) return name;
  throw new AppError('app_not_found', `"${app}" is not the folder of an app`);
}

async function setNamed(
  set: string,
  appName: string,
  evaluations: Evaluations,
  folder: string | undefined,
): Promise<EvalSet> {
  if (!set.endsWith('.json')) return evaluations.sets.get(appName, set);
  const file = resolve(folder ?? '.', set);
  return parseEvalSet(await readFile(file, 'utf8'), setIdOfFile(file));
}
