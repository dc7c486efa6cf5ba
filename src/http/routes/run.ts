import { z } from 'zod';
import { Event, eventJson } from '../../schemas/event.ts';
import { RunRequest } from '../../schemas/run.ts';
import type { ActiveRuns } from '../active-runs.ts';
import { runRequestFor } from '../default-app.ts';
import type { Log, RunStarter } from '../deps.ts';
import { JsonText, type Operation, operation } from '../operation.ts';
import { sendEvents, type SseOptions } from '../sse.ts';

interface RunRoutes {
  readonly runner: RunStarter;
  readonly runs: ActiveRuns;
  readonly sse: SseOptions;
  readonly log: Log;
  readonly defaultApp: string | undefined;
}

export function runOperations({ runner, runs, sse, log, defaultApp }: RunRoutes): Operation[] {
  const body = runRequestFor(defaultApp, RunRequest);
  return [
    operation({
      method: 'POST',
      paths: ['/run'],
      tag: 'Runs',
      summary: 'Run an agent and answer all its events at once',
      body,
      answer: { schema: z.array(Event), description: 'The events in order, without the user message' },
      async handle({ body: request }, { reply }) {
        const run = runs.open(reply.raw, request.onDisconnect);
        try {
          const texts: string[] = [];
          for await (const event of await runner.start(request, run.signal)) {
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
      summary: 'Run an agent and stream its events',
      body,
      answer: {
        schema: Event,
        mediaType: 'text/event-stream',
        description: 'One `data:` line of JSON for each event; a failure is a last object with the key `error`',
      },
      async handle({ body: request }, { reply }) {
        const run = runs.open(reply.raw, request.onDisconnect);
        try {
          const events = await runner.start(request, run.signal);
          const failure = await sendEvents(reply, events, run, { ...sse, resumable: request.resumable === true });
          if (failure !== undefined && !run.signal.aborted) log.warn({ err: failure }, 'stream failed');
          return reply;
        } finally {
          run.done();
        }
      },
    }),
  ];
}
