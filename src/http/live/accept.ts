import type { IncomingMessage } from 'node:http';
import websocket, { type WebSocket } from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { ErrorPolicy } from '../../base/error-policy.ts';
import { loggedError } from '../../base/errors.ts';
import type { Log } from '../../core/log.ts';
import { fitted } from './close-codes.ts';

/** How long a client may take to answer the close frame. */
const closeTimeout = 2_000;

/** Who is told of a connection that fails: the log, and the client as far as it may know. */
interface Told {
  readonly log: Log;
  readonly errors: ErrorPolicy;
}

/** Enables WebSockets on routes with an `accept`, with messages of at most this size. */
export async function registerWebSockets(app: FastifyInstance, maxPayload: number, told: Told): Promise<void> {
  const options = { maxPayload, clientTracking: false, closeTimeout };
  await app.register(websocket, {
    options,
    errorHandler: (error, socket, { id }) => tellFailure(error, socket, { ...told, requestId: id }),
    preClose: (done) => done(), // LiveSockets closes the connections with a reason
  });
  app.websocketServer.on('headers', (lines: string[], request: IncomingMessage) => {
    lines.push(`X-Request-Id: ${String(request.headers['x-request-id'])}`);
  });
}

/** The library has answered protocol errors of the client already; any other error is the server's. */
function tellFailure(
  error: Error,
  socket: WebSocket,
  { log, errors, requestId }: Told & { readonly requestId: string },
): void {
  if (socket.readyState === socket.OPEN) {
    const shown = errors.report(error);
    log.error({ ...loggedError(shown), requestId }, 'WebSocket failed');
    socket.close(1011, fitted(shown.message));
  } else {
    log.info({ reason: error.message, requestId }, 'WebSocket broken');
  }
}
