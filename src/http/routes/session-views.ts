import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { activeEvents } from '../../core/events/history.ts';
import type { Services } from '../../core/services.ts';
import { IndexedArtifact, OpenRequests, SessionSummaries } from '../../schemas/extensions.ts';
import { lenient } from '../../schemas/lenient.ts';
import { type Operation, operation } from '../operation.ts';
import { QueryCount, SessionParams, UserParams } from '../requests/path-params.ts';
import { artifactIndex } from '../views/artifact-index.ts';
import { openRequests } from '../views/open-requests.ts';
import { sessionSummaries } from '../views/session-summaries.ts';

const user = '/apps/{appName}/users/{userId}';
const one = `${user}/sessions/{sessionId}`;
const SummaryQuery = lenient({
  pageSize: QueryCount.optional(),
  q: z.string().max(1_000).optional(),
  cursor: z.string().optional(),
});

/** Sessions as a list shows them, and what is in one: extensions of ours (docs/extensions.md). */
export function sessionViewOperations({ sessions, artifacts }: Services): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: [`${user}/session-summaries`],
      tag: 'Sessions',
      feature: 'session-summaries',
      access: { role: 'user', user: 'path' },
      summary: 'List the sessions of a user with title and size, newest first, or those that hold some words',
      params: UserParams,
      query: SummaryQuery,
      response: { schema: SessionSummaries },
      handle: ({ params, query }) => sessionSummaries(sessions, params, query),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/pending-requests`],
      tag: 'Sessions',
      feature: 'pending-requests',
      access: { role: 'user', user: 'path' },
      summary: 'List the calls of a session that wait for an answer of the user',
      params: SessionParams,
      response: { schema: OpenRequests },
      async handle({ params }) {
        const session = await sessions.getSession(params);
        if (!session) throw new AppError('session_not_found', `Session not found: ${params.sessionId}`);
        return { requests: openRequests(activeEvents(session.events)) };
      },
    }),
    ...(artifacts
      ? [
          operation({
            method: 'GET',
            paths: [`${one}/artifact-index`],
            tag: 'Artifacts',
            feature: 'artifact-index',
            access: { role: 'user', user: 'path' },
            summary: 'Describe all artifacts of a session and its user with their versions',
            params: SessionParams,
            response: { schema: z.object({ artifacts: z.array(IndexedArtifact) }) },
            handle: async ({ params }) => ({ artifacts: await artifactIndex(artifacts, params) }),
          }),
        ]
      : []),
  ];
}
