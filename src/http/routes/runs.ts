import { z } from 'zod';
import type { Runs, RunTicket } from '../../core/runs.ts';
import { Event } from '../../schemas/event-schema.ts';
import { lenient } from '../../schemas/lenient.ts';
import { Name } from '../../schemas/names.ts';
import { Run, RunStatus } from '../../schemas/run-record.ts';
import { RunBody } from '../../schemas/run.ts';
import type { CallerLimits } from '../limits/caller-limits.ts';
import { type Operation, operation } from '../operation.ts';
import { clientSignal } from '../requests/client-signal.ts';
import { QueryCount, SessionParams } from '../requests/path-params.ts';
import { idempotencyKeyOf, setRunIdHeader } from '../responses/run-headers.ts';
import { sendFrames, type SseOptions } from '../responses/sse.ts';
import { readPosition } from '../responses/stream-position.ts';

interface RunResourceRoutes {
  readonly runs: Runs;
  readonly callerLimits: CallerLimits;
  readonly sse: SseOptions;
}

const all = '/apps/{appName}/users/{userId}/sessions/{sessionId}/runs';
const one = `${all}/{runId}`;
const tag = 'Runs';
const maxWaitMs = 60_000;

const RunParams = SessionParams.extend({ runId: Name });
const ListQuery = lenient({ status: RunStatus.optional(), limit: QueryCount.optional() });
const WaitQuery = lenient({ timeoutMs: QueryCount.optional() });
const StreamQuery = lenient({ lastEventId: z.string().optional() });
const CancelBody = z.preprocess((body) => body ?? {}, lenient({ rollback: z.boolean().default(false) }));

/** Runs as resources, an extension: any client can start, read, follow and cancel them. */
export function runResourceOperations({ runs, callerLimits, sse }: RunResourceRoutes): Operation[] {
  return [
    operation({
      method: 'POST',
      paths: [all],
      tag,
      feature: 'runs',
      access: { role: 'user', user: 'path' },
      summary: 'Start a run in the background',
      params: SessionParams,
      body: RunBody,
      response: { status: 202, schema: Run, description: 'The run, queued or running' },
      async handle({ params, body }, { request, reply, caller }) {
        caller.checkState(body.stateDelta);
        const idempotencyKey = idempotencyKeyOf(request);
        const admit = (): RunTicket => callerLimits.admitRun(request, params);
        const { run, replayed } = await runs.submit(caller.withBudgets({ ...body, ...params }), {
          idempotencyKey,
          admit,
        });
        const path = [params.appName, params.userId, params.sessionId, run.id].map(encodeURIComponent);
        setRunIdHeader(reply, run.id);
        reply.code(202).header('location', `/apps/${path[0]}/users/${path[1]}/sessions/${path[2]}/runs/${path[3]}`);
        if (replayed) reply.header('idempotency-replayed', 'true');
        return run;
      },
    }),
    operation({
      method: 'GET',
      paths: [all],
      tag,
      feature: 'runs',
      access: { role: 'user', user: 'path' },
      summary: 'List the runs of a session, newest first',
      params: SessionParams,
      query: ListQuery,
      response: { schema: z.array(Run) },
      handle: ({ params, query }) => runs.list(params, query),
    }),
    operation({
      method: 'GET',
      paths: [one],
      tag,
      feature: 'runs',
      access: { role: 'user', user: 'path' },
      summary: 'Read the status of a run',
      params: RunParams,
      response: { schema: Run },
      handle: ({ params }) => runs.get(params),
    }),
    operation({
      method: 'POST',
      paths: [`${one}/cancel`],
      tag,
      feature: 'runs',
      access: { role: 'user', user: 'path' },
      summary: 'Cancel a run, and roll it back if asked to; a run that has ended is not changed',
      params: RunParams,
      body: CancelBody,
      response: { schema: Run, description: 'The run, which has ended' },
      handle: ({ params, body }, { reply }) => runs.cancel(params, body, clientSignal(reply)),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/wait`],
      tag,
      feature: 'runs',
      access: { role: 'user', user: 'path' },
      summary: 'Wait until a run ends, or for a limited time',
      params: RunParams,
      query: WaitQuery,
      response: { schema: Run, description: 'The run at that time' },
      handle: ({ params, query }, { reply }) =>
        runs.wait(params, Math.min(query.timeoutMs ?? maxWaitMs / 2, maxWaitMs), clientSignal(reply)),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/stream`],
      tag,
      feature: 'runs',
      access: { role: 'user', user: 'path' },
      summary: 'Follow the events of a run, from the first or after Last-Event-ID',
      opensStream: true,
      params: RunParams,
      query: StreamQuery,
      response: {
        schema: Event,
        mediaType: 'text/event-stream',
        description: 'As `/run_sse`, each frame with an `id:`',
      },
      async handle({ params, query }, { request, reply }) {
        const last = request.headers['last-event-id'] ?? query.lastEventId;
        const after = readPosition(Array.isArray(last) ? last[0] : last, params.runId);
        const signal = clientSignal(reply);
        const frames = await runs.follow(params, after, signal);
        setRunIdHeader(reply, params.runId);
        await sendFrames(reply, frames, { runId: params.runId, signal }, sse);
        return reply;
      },
    }),
  ];
}
