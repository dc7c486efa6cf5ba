import type { EvalMetric, MetricInfo } from '../../../src/schemas/evaluation/eval-metric.ts';
import type {
  EvalCaseResult,
  EvalRunSummary,
  EvalSetResult,
  RunComparison,
  RunEvalRequest,
} from '../../../src/schemas/evaluation/eval-result.ts';
import type { EvalCase, EvalSet } from '../../../src/schemas/evaluation/eval-set.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { framesOf } from './frames.ts';
import { ApiError, getJson, path, request, sendJson } from './server.ts';

const setPath = (app: string, set: string): string => path`apps/${app}/eval-sets/${set}`;
const casePath = (app: string, set: string, id: string): string =>
  `${setPath(app, set)}/eval-cases/${encodeURIComponent(id)}`;

export const listEvalSets = (app: string, signal?: AbortSignal): Promise<string[]> =>
  getJson(path`apps/${app}/eval_sets`, signal);

export const createEvalSet = (app: string, evalSetId: string): Promise<EvalSet> =>
  sendJson('POST', path`apps/${app}/eval-sets`, { evalSet: { evalSetId, evalCases: [] } });

export const readEvalSet = (app: string, set: string, signal?: AbortSignal): Promise<EvalSet> =>
  getJson(setPath(app, set), signal);

export const deleteEvalSet = (app: string, set: string): Promise<null> => sendJson('DELETE', setPath(app, set));

/** Creates a case from a session, or from some of its turns. */
export const addSessionToSet = (
  { appName, userId, sessionId }: SessionKey,
  set: string,
  { evalId, invocationIds }: { evalId: string; invocationIds?: readonly string[] | undefined },
): Promise<null> =>
  sendJson('POST', `${setPath(appName, set)}/add-session`, { evalId, userId, sessionId, invocationIds });

export const addEvalCase = (app: string, set: string, evalCase: EvalCase): Promise<EvalCase> =>
  sendJson('POST', `${setPath(app, set)}/eval-cases`, evalCase);

export const readEvalCase = (app: string, set: string, id: string, signal?: AbortSignal): Promise<EvalCase> =>
  getJson(casePath(app, set, id), signal);

export const replaceEvalCase = (app: string, set: string, evalCase: EvalCase): Promise<null> =>
  sendJson('PUT', casePath(app, set, evalCase.evalId), evalCase);

export const deleteEvalCase = (app: string, set: string, id: string): Promise<null> =>
  sendJson('DELETE', casePath(app, set, id));

export const listMetrics = async (app: string, signal?: AbortSignal): Promise<MetricInfo[]> =>
  (await getJson<{ metricsInfo: MetricInfo[] }>(path`apps/${app}/metrics-info`, signal)).metricsInfo;

/** The newest runs of a set, newest first. */
export const listEvalRuns = (app: string, set: string, signal?: AbortSignal): Promise<EvalRunSummary[]> =>
  getJson(`${path`apps/${app}/eval-runs`}?evalSetId=${encodeURIComponent(set)}`, signal);

export const readEvalResult = (app: string, id: string, signal?: AbortSignal): Promise<EvalSetResult> =>
  getJson(path`apps/${app}/eval-results/${id}`, signal);

export const deleteEvalResult = (app: string, id: string): Promise<null> =>
  sendJson('DELETE', path`apps/${app}/eval-results/${id}`);

export const compareEvalResults = (
  app: string,
  { before, after }: { before: string; after: string },
  signal?: AbortSignal,
): Promise<RunComparison> =>
  getJson(`${path`apps/${app}/eval-results/${after}/compare`}?with=${encodeURIComponent(before)}`, signal);

export const cancelEvalRun = (app: string, runId: string): Promise<null> =>
  sendJson('POST', path`apps/${app}/eval-runs/${runId}/cancel`);

/** The progress of a run, frame by frame. */
export type EvalFrame =
  | { readonly type: 'started'; readonly runId: string; readonly total: number }
  | { readonly type: 'case'; readonly done: number; readonly total: number; readonly result: EvalCaseResult }
  | { readonly type: 'finished'; readonly evalSetResultId: string; readonly cancelled: boolean };

export type EvalRunBody = Partial<Omit<RunEvalRequest, 'evalMetrics'>> & {
  readonly evalMetrics?: readonly (string | EvalMetric)[];
};

/** Runs a set. Throws an `ApiError` when it fails. */
export async function* runEvalSet(
  { app, set }: { app: string; set: string },
  body: EvalRunBody,
  signal: AbortSignal,
): AsyncGenerator<EvalFrame, void, void> {
  const where = `${setPath(app, set)}/run_sse`;
  const response = await request(where, { method: 'POST', body, signal });
  if (!response.body) return;
  for await (const frames of framesOf(response.body)) {
    for (const { data } of frames) {
      const frame = JSON.parse(data) as EvalFrame | { readonly error: string };
      if ('error' in frame) throw new ApiError({ method: 'POST', path: `/${where}` }, 200, { detail: frame.error });
      yield frame;
    }
  }
}
