import { z } from 'zod';
import type { Evaluations } from '../../../evaluation/evaluations.ts';
import { type EvalMetricResult, MetricInfo } from '../../../schemas/evaluation/eval-metric.ts';
import {
  EvalRunSummary,
  EvalSetResult,
  RunComparison,
  RunEvalRequest,
  RunEvalResult,
} from '../../../schemas/evaluation/eval-result.ts';
import { Name } from '../../../schemas/names.ts';
import type { ActiveRuns } from '../../active-runs.ts';
import { errorFrame } from '../../errors/problems.ts';
import { type Operation, operation } from '../../operation.ts';
import { AppParams, QueryCount } from '../../requests/path-params.ts';
import { EventStream, type SseOptions } from '../../responses/sse.ts';
import { listPieces, sendJsonStream } from '../../responses/streamed-body.ts';
import { EvalResultParams, EvalSetParams, evaluationTag as tag, spellings } from './evaluation-paths.ts';

export interface EvaluationRunRoutes {
  readonly evaluations: Evaluations;
  readonly active: ActiveRuns;
  readonly sse: SseOptions;
}

/** Runs, their results, and which metrics there are. */
export function evaluationRunOperations(routes: EvaluationRunRoutes): Operation[] {
  const { evaluations } = routes;
  return [
    runOperation(routes, spellings('/eval-sets/{evalSetId}/run'), {
      schema: z.object({ runEvalResults: z.array(RunEvalResult) }),
      head: '{"runEvalResults":',
      tail: '}',
    }),
    runOperation(
      routes,
      spellings(
        '/eval_sets/{evalSetId}/run-eval',
        '/eval_sets/{evalSetId}/run_eval',
        '/eval-sets/{evalSetId}/run-eval',
        '/eval-sets/{evalSetId}/run_eval',
        '/eval_sets/{evalSetId}/run',
      ),
    ),
    streamOperation(routes),
    operation({
      method: 'GET',
      paths: spellings('/eval-runs', '/eval_runs'),
      tag,
      feature: 'evaluation-runs',
      access: { role: 'developer', user: 'none' },
      summary: 'List the newest runs of an evaluation set, each in a line',
      params: AppParams,
      query: z.object({ evalSetId: Name, limit: QueryCount.optional() }),
      response: { schema: z.array(EvalRunSummary) },
      handle: ({ params, query: { evalSetId, limit = 20 } }) =>
        evaluations.summaries(params.appName, evalSetId, Math.min(limit, 100)),
    }),
    operation({
      method: 'POST',
      paths: spellings('/eval-runs/{runId}/cancel', '/eval_runs/{runId}/cancel'),
      tag,
      feature: 'evaluation-runs',
      access: { role: 'developer', user: 'none' },
      summary: 'Cancel a run of an evaluation set; its result holds the cases that are done',
      params: AppParams.extend({ runId: Name }),
      response: { schema: z.null() },
      handle: ({ params }) => evaluations.cancel(params.appName, params.runId),
    }),
    operation({
      method: 'GET',
      paths: spellings('/metrics-info', '/eval_metrics'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the metrics that can be applied to an app',
      params: AppParams,
      response: { schema: z.object({ metricsInfo: z.array(MetricInfo) }) },
      handle: async ({ params }) => ({ metricsInfo: await evaluations.metricInfos(params.appName) }),
    }),
    ...resultOperations(evaluations),
  ];
}

const plain = { schema: z.array(RunEvalResult), head: '', tail: '' };

function runOperation(
  { evaluations, active }: EvaluationRunRoutes,
  paths: [string, ...string[]],
  { schema, ...around }: { readonly schema: z.ZodType; readonly head: string; readonly tail: string } = plain,
): Operation {
  return operation({
    method: 'POST',
    paths,
    tag,
    access: { role: 'developer', user: 'none' },
    summary: 'Run an evaluation set and answer what came of each case',
    params: EvalSetParams,
    body: RunEvalRequest,
    response: { schema },
    async handle({ params: { appName, evalSetId }, body }, { reply }) {
      const run = active.open(reply.raw);
      try {
        const result = await evaluations.run(appName, evalSetId, body, { signal: run.signal });
        return await sendJsonStream(reply, listPieces(runResults(appName, result), around.head, around.tail));
      } finally {
        run.done();
      }
    },
  });
}

/** One frame for the start, each case and the end. */
function streamOperation({ evaluations, active, sse }: EvaluationRunRoutes): Operation {
  return operation({
    method: 'POST',
    paths: spellings(
      '/eval-sets/{evalSetId}/run-sse',
      '/eval-sets/{evalSetId}/run_sse',
      '/eval_sets/{evalSetId}/run_sse',
    ),
    tag,
    feature: 'evaluation-runs',
    access: { role: 'developer', user: 'none' },
    summary: 'Run an evaluation set and stream how far it is',
    opensStream: true,
    params: EvalSetParams,
    body: RunEvalRequest,
    response: {
      mediaType: 'text/event-stream',
      description:
        'Objects of type `started` (`runId`, `total`), `case` (`done`, `total`, `result`) and `finished` (`evalSetResultId`); a failure is a last object with the key `error`',
    },
    async handle({ params: { appName, evalSetId }, body }, { reply }) {
      await evaluations.sets.get(appName, evalSetId); // what is the caller's fault is told before the stream begins
      const run = active.open(reply.raw);
      let stream: EventStream | undefined;
      const send = (frame: object): void => {
        if (run.clientLeft) return;
        stream ??= new EventStream(reply, sse);
        stream.send(`data: ${JSON.stringify(frame)}\n\n`); // as many frames as there are cases: few
      };
      try {
        await evaluations.run(appName, evalSetId, body, { onProgress: send, signal: run.signal });
        return reply;
      } catch (error) {
        if (!stream) throw error;
        send(errorFrame(sse.errors.report(error)));
        return reply;
      } finally {
        stream?.end();
        run.done();
      }
    },
  });
}

function resultOperations(evaluations: Evaluations): Operation[] {
  const { results } = evaluations;
  return [
    operation({
      method: 'GET',
      paths: spellings('/eval-results'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the results of an app’s evaluations',
      params: AppParams,
      response: { schema: z.object({ evalResultIds: z.array(z.string()) }) },
      handle: async ({ params }) => ({ evalResultIds: await results.list(params.appName) }),
    }),
    operation({
      method: 'GET',
      paths: spellings('/eval_results'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the results of an app’s evaluations, as a bare array',
      params: AppParams,
      response: { schema: z.array(z.string()) },
      handle: ({ params }) => results.list(params.appName),
    }),
    operation({
      method: 'GET',
      paths: spellings('/eval-results/{evalResultId}', '/eval_results/{evalResultId}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Get one result',
      params: EvalResultParams,
      response: { schema: EvalSetResult },
      async handle({ params }, { reply }) {
        const { evalCaseResults, ...rest } = await results.get(params.appName, params.evalResultId);
        const head = `${JSON.stringify(rest).slice(0, -1)},"evalCaseResults":`;
        return await sendJsonStream(reply, listPieces(evalCaseResults, head, '}'));
      },
    }),
    operation({
      method: 'DELETE',
      paths: spellings('/eval-results/{evalResultId}', '/eval_results/{evalResultId}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Delete one result',
      params: EvalResultParams,
      response: { schema: z.null() },
      handle: ({ params }) => results.delete(params.appName, params.evalResultId),
    }),
    operation({
      method: 'GET',
      paths: spellings('/eval-results/{evalResultId}/compare', '/eval_results/{evalResultId}/compare'),
      tag,
      feature: 'evaluation-runs',
      access: { role: 'developer', user: 'none' },
      summary: 'Compare a result with an earlier one: what got worse comes first',
      params: EvalResultParams,
      query: z.object({ with: EvalResultParams.shape.evalResultId }),
      response: { schema: RunComparison },
      handle: ({ params, query }) => evaluations.compare(params.appName, query.with, params.evalResultId),
    }),
  ];
}

/** Each case as older clients read it: with pairs of a metric and its result, and without the session. */
function runResults(appName: string, { evalCaseResults }: EvalSetResult): object[] {
  return evalCaseResults.map((result) => {
    const { sessionDetails: _, ...told } = result;
    const pairs = result.overallEvalMetricResults.map((one) => [metricOf(one), one]);
    return { appName, ...told, evalMetricResults: pairs };
  });
}

function metricOf(result: EvalMetricResult): object {
  const { score: _, evalStatus: __, details: ___, ...metric } = result;
  return metric;
}
