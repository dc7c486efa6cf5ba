import type { ErrorPolicy } from '../../base/error-policy.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../core/log.ts';
import type { RunTicket } from '../../core/runs.ts';
import { Event } from '../../schemas/event-schema.ts';
import type { LiveStarter } from '../deps.ts';
import type { CallerLimits } from '../limits/caller-limits.ts';
import { fitted } from '../live/close-codes.ts';
import { LiveConnection } from '../live/connection.ts';
import { liveQueryFor, readLiveQuery } from '../live/query.ts';
import type { LiveSockets } from '../live/sockets.ts';
import { type Operation, operation } from '../operation.ts';

const livePaths = ['/run_live', '/run-live'] as const;

/** Whether a request to this URL may become a WebSocket. */
export const isLivePath = (url: string): boolean =>
  livePaths.some((path) => url === path || url.startsWith(`${path}?`));

interface LiveRoutes {
  readonly runner: LiveStarter;
  readonly live: LiveSockets;
  readonly callerLimits: CallerLimits;
  readonly idleTicks: number;
  readonly defaultApp: string | undefined;
  readonly log: Log;
  readonly errors: ErrorPolicy;
}

export function liveOperations({
  runner,
  live,
  callerLimits,
  idleTicks,
  defaultApp,
  log,
  errors,
}: LiveRoutes): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: livePaths,
      tag: 'Runs',
      feature: 'live',
      access: { role: 'user', user: 'query' },
      summary: 'Talk with an agent over a WebSocket',
      opensStream: true,
      query: liveQueryFor(defaultApp),
      response: {
        status: 101,
        schema: Event,
        description: 'A WebSocket: LiveRequest objects go in, events come out, one JSON text frame each',
      },
      handle(_input, { reply }) {
        reply.header('upgrade', 'websocket');
        throw new AppError('upgrade_required', 'Open a WebSocket here: this path answers no plain request');
      },
      accept(socket, request, caller) {
        const run = readLiveQuery(request.query, defaultApp);
        if (typeof run === 'string') {
          socket.close(1008, fitted(run));
          return;
        }
        const limits = { idleTicks, log, errors, requestId: request.id, expiresAt: caller.principal?.expiresAt };
        const connection = new LiveConnection(socket, request.raw.socket, limits);
        let ticket: RunTicket | undefined;
        const over = connection.serve(async (input, signal) => {
          ticket = callerLimits.admitRun(request, run);
          const events = await runner.startLive(
            { ...caller.withBudgets(run), onRefused: (error) => connection.refuse(error) },
            input,
            signal,
          );
          ticket.begun();
          return events;
        });
        live.add(
          connection,
          over.finally(() => ticket?.ended()),
        );
      },
    }),
  ];
}
