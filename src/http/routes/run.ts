import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { loggedError } from '../../base/errors.ts';
import type { Log } from '../../core/log.ts';
import type { RunTicket, StreamedEvent, Runs } from '../../core/runs.ts';
import { Event } from '../../schemas/event-schema.ts';
import { eventJson, storedEventJson } from '../../schemas/event.ts';
import { RunRequest } from '../../schemas/run.ts';
import type { ActiveRuns } from '../active-runs.ts';
import type { RunStarter } from '../deps.ts';
import type { CallerLimits } from '../limits/caller-limits.ts';
import { JsonText, type Operation, operation } from '../operation.ts';
import { clientSignal } from '../requests/client-signal.ts';
import { runRequestFor } from '../requests/default-app.ts';
import { idempotencyKeyOf, setRunIdHeader } from '../responses/run-headers.ts';
import { sendFrames, sendRun, type SseOptions } from '../responses/sse.ts';

interface RunRoutes {
  readonly runner: RunStarter;
  readonly runs: Runs;
  readonly active: ActiveRuns;
  readonly callerLimits: CallerLimits;
  readonly sse: SseOptions;
  readonly log: Log;
  readonly defaultApp: string | undefined;
}

export function runOperations({ runner, runs, active, callerLimits, sse, log, defaultApp }: RunRoutes): Operation[] {
  const body = runRequestFor(defaultApp, RunRequest);
  const submit = submitter(runs, callerLimits);
  return [
    operation({
      method: 'POST',
      paths: ['/run'],
      tag: 'Runs',
      access: { role: 'user', user: 'body' },
      summary: 'Run an agent and return all its events at once',
      body,
      response: { schema: z.array(Event), description: 'The events in order, without the user message' },
      async handle({ body: given }, { request: { headers }, reply, caller }) {
        caller.checkState(given.stateDelta);
        const request = caller.withBudgets(given);
        if (headers['idempotency-key'] !== undefined) return respondWithAll(await submit(request, reply));
        const ticket = callerLimits.admitRun(reply.request, request);
        const run = active.open(reply.raw, request.onDisconnect, ticket);
        try {
          const texts: string[] = [];
          const events = await (await runner.enqueue(request, run.signal)).begin();
          run.begun();
          setRunIdHeader(reply, events.invocationId);
          for await (const event of events) {
            run.signal.throwIfAborted();
            texts.push(eventJson(event));
          }
          run.signal.throwIfAborted();
          return new JsonText(`[${texts.join(',')}]`);
        } finally {
          run.done();
        }
      },
    }),
    operation({
      method: 'POST',
      paths: ['/run-sse', '/run_sse'],
      tag: 'Runs',
      access: { role: 'user', user: 'body' },
      summary: 'Run an agent and stream its events',
      opensStream: true,
      body,
      response: {
        schema: Event,
        mediaType: 'text/event-stream',
        description: 'One `data:` line of JSON for each event; a failure is a last object with the key `error`',
      },
      async handle({ body: given }, { request: { headers }, reply, caller }) {
        caller.checkState(given.stateDelta);
        const request = caller.withBudgets(given);
        if (request.resumable === true || headers['idempotency-key'] !== undefined) {
          const { frames, runId, signal } = await submit(request, reply);
          await sendFrames(reply, frames, { runId, signal }, sse);
          return reply;
        }
        const ticket = callerLimits.admitRun(reply.request, request);
        const run = active.open(reply.raw, request.onDisconnect, ticket);
        try {
          const failure = await sendRun(reply, await runner.enqueue(request, run.signal), run, sse);
          if (failure !== undefined && !run.signal.aborted) {
            log.warn({ ...loggedError(failure), requestId: reply.request.id }, 'stream failed');
          }
          return reply;
        } finally {
          run.done();
        }
      },
    }),
  ];
}

interface Followed {
  readonly runId: string;
  readonly frames: AsyncIterable<StreamedEvent>;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/** Starts a run that outlives its connection (unless `onDisconnect` is `cancel`) and follows its events. */
function submitter(runs: Runs, callerLimits: CallerLimits) {
  return async (request: RunRequest, reply: FastifyReply): Promise<Followed> => {
    const signal = clientSignal(reply);
    const idempotencyKey = idempotencyKeyOf(reply.request);
    const admit = (): RunTicket => callerLimits.admitRun(reply.request, request);
    const { run, replayed } = await runs.submit(request, { idempotencyKey, admit });
    const key = { appName: run.appName, userId: run.userId, sessionId: run.sessionId, runId: run.id };
    const leave = (): void => {
      // An error means that the run or its session has ended already.
      runs.cancel(key, { rollback: false }, new AbortController().signal).catch(() => {});
    };
    if (request.onDisconnect === 'cancel') {
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    }
    setRunIdHeader(reply, run.id);
    if (replayed) reply.header('idempotency-replayed', 'true');
    return { runId: run.id, frames: await runs.follow(key, { events: 0, chunks: 0 }, signal), signal };
  };
}

/** All events of a run, without chunks, once it has ended. */
async function respondWithAll({ frames, signal }: Followed): Promise<JsonText> {
  const texts: string[] = [];
  for await (const { event } of frames) texts.push(storedEventJson(event));
  signal.throwIfAborted();
  return new JsonText(`[${texts.join(',')}]`);
}
