import { z } from 'zod';
import { AppError } from '../../../base/errors.ts';
import type { Evaluations } from '../../../evaluation/evaluations.ts';
import { EvalCase, EvalSet } from '../../../schemas/evaluation/eval-set.ts';
import { lenient } from '../../../schemas/lenient.ts';
import { Name } from '../../../schemas/names.ts';
import { type Operation, operation } from '../../operation.ts';
import { AppParams } from '../../requests/path-params.ts';
import { EvalCaseParams, EvalSetParams, evaluationTag as tag, spellings } from './evaluation-paths.ts';

const CreateEvalSet = lenient({ evalSet: EvalSet });
const AddSession = lenient({
  evalId: Name,
  sessionId: Name,
  userId: Name,
  invocationIds: z.array(z.string()).min(1).optional(),
});

/** Sets and their cases. */
export function evaluationSetOperations(evaluations: Evaluations): Operation[] {
  const { sets } = evaluations;
  return [
    operation({
      method: 'GET',
      paths: spellings('/eval-sets'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the evaluation sets of an app',
      params: AppParams,
      response: { schema: z.object({ evalSetIds: z.array(z.string()) }) },
      handle: async ({ params }) => ({ evalSetIds: await sets.list(params.appName) }),
    }),
    operation({
      method: 'GET',
      paths: spellings('/eval_sets'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the evaluation sets of an app, as a bare array',
      params: AppParams,
      response: { schema: z.array(z.string()) },
      handle: ({ params }) => sets.list(params.appName),
    }),
    operation({
      method: 'POST',
      paths: spellings('/eval-sets', '/eval_sets'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Create an evaluation set',
      params: AppParams,
      body: CreateEvalSet,
      response: { schema: EvalSet },
      handle: ({ params, body }) => sets.create(params.appName, body.evalSet),
    }),
    operation({
      method: 'POST',
      paths: spellings('/eval_sets/{evalSetId}', '/eval-sets/{evalSetId}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Create an empty evaluation set',
      params: EvalSetParams,
      response: { schema: z.null() },
      async handle({ params: { appName, evalSetId } }) {
        await sets.create(appName, { evalSetId, evalCases: [], creationTimestamp: 0 });
      },
    }),
    operation({
      method: 'GET',
      paths: spellings('/eval-sets/{evalSetId}', '/eval_sets/{evalSetId}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Get an evaluation set with its cases',
      params: EvalSetParams,
      response: { schema: EvalSet },
      handle: ({ params }) => sets.get(params.appName, params.evalSetId),
    }),
    operation({
      method: 'DELETE',
      paths: spellings('/eval-sets/{evalSetId}', '/eval_sets/{evalSetId}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Delete an evaluation set',
      params: EvalSetParams,
      response: { schema: z.null() },
      handle: ({ params }) => sets.delete(params.appName, params.evalSetId),
    }),
    operation({
      method: 'POST',
      paths: spellings(
        '/eval_sets/{evalSetId}/add-session',
        '/eval_sets/{evalSetId}/add_session',
        '/eval-sets/{evalSetId}/add-session',
        '/eval-sets/{evalSetId}/add_session',
      ),
      tag,
      access: { role: 'developer', user: 'body' },
      summary: 'Add a session, or some of its turns, to an evaluation set as a case',
      params: EvalSetParams,
      body: AddSession,
      response: { schema: z.null() },
      async handle({ params: { appName, evalSetId }, body }) {
        await evaluations.addSession(evalSetId, { ...body, appName });
      },
    }),
    ...caseOperations(sets),
  ];
}

function caseOperations(sets: Evaluations['sets']): Operation[] {
  const casePaths = spellings(
    '/eval-sets/{evalSetId}/eval-cases/{evalCaseId}',
    '/eval_sets/{evalSetId}/evals/{evalCaseId}',
  );
  return [
    operation({
      method: 'GET',
      paths: spellings(
        '/eval_sets/{evalSetId}/evals',
        '/eval-sets/{evalSetId}/evals',
        '/eval-sets/{evalSetId}/eval-cases',
        '/eval_sets/{evalSetId}/eval-cases',
      ),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the ids of the cases of an evaluation set',
      params: EvalSetParams,
      response: { schema: z.array(z.string()) },
      async handle({ params }) {
        const { evalCases } = await sets.get(params.appName, params.evalSetId);
        return evalCases.map(({ evalId }) => evalId).toSorted();
      },
    }),
    operation({
      method: 'POST',
      paths: spellings('/eval-sets/{evalSetId}/eval-cases', '/eval_sets/{evalSetId}/evals'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Add a case to an evaluation set',
      params: EvalSetParams,
      body: EvalCase,
      response: { schema: EvalCase },
      async handle({ params, body }) {
        const made = { ...body, creationTimestamp: body.creationTimestamp || Date.now() / 1000 };
        await sets.addCase(params.appName, params.evalSetId, made);
        return made;
      },
    }),
    operation({
      method: 'GET',
      paths: casePaths,
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Get a case of an evaluation set',
      params: EvalCaseParams,
      response: { schema: EvalCase },
      handle: ({ params }) => sets.case(params.appName, params.evalSetId, params.evalCaseId),
    }),
    operation({
      method: 'PUT',
      paths: casePaths,
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Replace a case of an evaluation set',
      params: EvalCaseParams,
      body: EvalCase,
      response: { schema: z.null() },
      async handle({ params: { appName, evalSetId, evalCaseId }, body }) {
        if (body.evalId !== evalCaseId) {
          throw new AppError('invalid_request', `The case is called "${body.evalId}", the path says "${evalCaseId}"`);
        }
        await sets.updateCase(appName, evalSetId, body);
      },
    }),
    operation({
      method: 'DELETE',
      paths: casePaths,
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Delete a case of an evaluation set',
      params: EvalCaseParams,
      response: { schema: z.null() },
      handle: ({ params }) => sets.deleteCase(params.appName, params.evalSetId, params.evalCaseId),
    }),
  ];
}
