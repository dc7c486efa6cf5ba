import { z } from 'zod';
import { Content } from '../../schemas/content-schema.ts';
import { lenient } from '../../schemas/lenient.ts';
import { Name } from '../../schemas/names.ts';
import { Session, State } from '../../schemas/session-schema.ts';
import type { SessionBrancher } from '../deps.ts';
import { type Operation, operation } from '../operation.ts';
import { SessionParams } from '../requests/path-params.ts';
import { sendSession } from '../responses/send-session.ts';

const one = '/apps/{appName}/users/{userId}/sessions/{sessionId}';
const tag = 'Sessions';

/** No body means a fork of the whole session. */
const ForkBody = z.preprocess(
  (body) => body ?? {},
  lenient({
    eventId: z.string().optional(),
    beforeEventId: z.string().optional(),
    sessionId: Name.optional(),
    content: Content.optional(),
    state: State.optional(),
  }),
);
const RewindBody = lenient({ invocationId: z.string() });

interface BranchingRoutes {
  readonly runner: SessionBrancher;
}

/** Fork and rewind: extensions that ADK servers do not have. */
export function branchingOperations({ runner }: BranchingRoutes): Operation[] {
  return [
    operation({
      method: 'POST',
      paths: [`${one}/fork`],
      tag,
      feature: 'fork',
      access: { role: 'user', user: 'path' },
      summary: 'Copy a session, up to an event and with changes, to a new one',
      params: SessionParams,
      body: ForkBody,
      response: { schema: Session, description: 'The new session' },
      async handle({ params, body }, { reply, caller }) {
        caller.checkState(body.state);
        return sendSession(reply, await runner.fork(params, { ...body, userEventsOnly: !caller.may('import') }));
      },
    }),
    operation({
      method: 'POST',
      paths: [`${one}/rewind`],
      tag,
      feature: 'rewind',
      access: { role: 'user', user: 'path' },
      summary: 'Rewind a session to before an invocation; 409 while it has an active run',
      params: SessionParams,
      body: RewindBody,
      response: { schema: Session },
      handle: async ({ params, body }, { reply }) => sendSession(reply, await runner.rewind(params, body.invocationId)),
    }),
  ];
}
