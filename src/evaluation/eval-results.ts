import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { isJsonObject } from '../base/json.ts';
import { EvalCaseResult, EvalSetResult } from '../schemas/evaluation/eval-result.ts';
import type { Session } from '../schemas/session.ts';
import type { EvalFiles } from './eval-files.ts';
import { withSnakeCaseKeys } from './snake-case-keys.ts';

/** The results of evaluation runs, one file each. */
export class EvalResults {
  readonly #files: EvalFiles;

  constructor(files: EvalFiles) {
    this.#files = files;
  }

  /** Ids, sorted: the time at their end makes runs of one set oldest first. */
  list(appName: string): Promise<string[]> {
    return this.#files.list(appName, 'result');
  }

  /** Throws `eval_not_found`, and `invalid_request` for an invalid file. */
  async get(appName: string, resultId: string): Promise<EvalSetResult> {
    const text = await this.#files.read(appName, 'result', resultId);
    if (text === undefined) throw new AppError('eval_not_found', `Evaluation result not found: ${resultId}`);
    try {
      const json: unknown = JSON.parse(text);
      // ADK once wrote the JSON text of a result as a JSON string.
      return await parseResult(typeof json === 'string' ? JSON.parse(json) : json);
    } catch (error) {
      const fault = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error);
      throw new AppError('invalid_request', `The file of evaluation result "${resultId}" holds no result: ${fault}`);
    }
  }

  /** The session of an evaluated case with its title, if one of the latest results contains it. */
  async sessionOf(appName: string, sessionId: string): Promise<{ session: Session; title: string } | undefined> {
    const newestFirst = (await this.list(appName)).toSorted((a, b) => secondsIn(b) - secondsIn(a));
    for (const resultId of newestFirst.slice(0, searchedResults)) {
      const text = await this.#files.read(appName, 'result', resultId);
      if (!text?.includes(sessionId)) continue; // avoids parsing all files
      const { evalCaseResults } = await this.get(appName, resultId);
      const found = evalCaseResults.find((result) => result.sessionId === sessionId);
      if (!found?.sessionDetails) continue;
      const session = { ...found.sessionDetails, id: sessionId, appName };
      return { session, title: `${found.evalSetId} / ${found.evalId}` };
    }
    return undefined;
  }

  async save(appName: string, result: EvalSetResult): Promise<void> {
    const { evalCaseResults, ...rest } = result;
    const cases: string[] = [];
    for (const one of evalCaseResults) {
      cases.push(JSON.stringify(withSnakeCaseKeys(one)));
      await yieldWhenDue();
    }
    const head = JSON.stringify(withSnakeCaseKeys(rest)).slice(0, -1);
    const text = `${head},"eval_case_results":[${cases.join(',')}]}`;
    await this.#files.write(appName, 'result', result.evalSetResultId, text);
  }

  /** Throws `eval_not_found`. */
  async delete(appName: string, resultId: string): Promise<void> {
    if (await this.#files.remove(appName, 'result', resultId)) return;
    throw new AppError('eval_not_found', `Evaluation result not found: ${resultId}`);
  }
}

/** Like `EvalSetResult.parse`, but one case at a time: a result may have thousands. */
async function parseResult(json: unknown): Promise<EvalSetResult> {
  if (!isJsonObject(json)) return EvalSetResult.parse(json);
  const { eval_case_results: snake, evalCaseResults: cases = snake, ...rest } = json;
  if (!Array.isArray(cases)) return EvalSetResult.parse(json);
  const result = EvalSetResult.parse(rest);
  for (const one of cases) {
    result.evalCaseResults.push(EvalCaseResult.parse(one));
    await yieldWhenDue();
  }
  return result;
}

/** Results that are searched for a session: clients may request sessions that never existed. */
const searchedResults = 100;

/** The time of a result, from the end of its id. */
const secondsIn = (resultId: string): number => Number(resultId.slice(resultId.lastIndexOf('_') + 1)) || 0;

/** The id of a result. ADK's web UI builds the same id from app, set and time. */
export const resultIdOf = (appName: string, setId: string, seconds: number): string =>
  `${appName}_${setId}_${seconds}`.replaceAll('/', '_');

/** The ids of the runs of a set, newest first. */
export function runsOf(appName: string, setId: string, resultIds: readonly string[]): string[] {
  const start = resultIdOf(appName, setId, 0).slice(0, -1);
  const own = resultIds.filter((id) => id.startsWith(start) && /^\d+(?:\.\d+)?$/.test(id.slice(start.length)));
  return own.toSorted((a, b) => secondsIn(b) - secondsIn(a));
}
