import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../base/errors.ts';
import { hasBodyIdleTimeout } from './body-idle-timeout.ts';
import {
  answerClientError,
  answerOutright,
  type ClientError,
  isLate,
  lateRequest,
  responseOn,
} from './client-errors.ts';
import { isLingering } from './lingering-close.ts';

/** Silence after which a connection is looked at. */
const silenceMs = 15_000;

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** How long a client may leave an answer unread. */
  readonly stallMs: number;
}

/** Lets no client hold a connection by doing nothing: half a request, an answer it does not read, or none of either. */
export function limitConnections(server: Server, { maxConnections, stallMs }: ConnectionLimits): void {
  server.maxConnections = maxConnections;
  server.timeout = silenceMs;
  server.on('timeout', (socket: Socket) => onSocketTimeout(socket, stallMs));
  // When all places are taken, the connections between two requests make room.
  server.on('drop', () => server.closeIdleConnections());
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answerOutright(socket, new AppError('not_supported', 'CONNECT is not supported'));
  });
}

/** With a listener, Node leaves all connections that are silent to it: those between two requests, too. */
function onSocketTimeout(socket: Socket, stallMs: number): void {
  if (isLingering(socket)) return;
  if (socket.writableLength > 0) {
    if ((socket.timeout ?? 0) >= stallMs) socket.destroy();
    else socket.setTimeout(stallMs);
  } else if (!responseOn(socket)) {
    socket.destroy(); // between two requests, or behind the answer to half of one
  } else if (hasHalfRequest(socket) && !hasBodyIdleTimeout(socket)) {
    answerClientError(lateRequest(), socket);
  }
}

function hasHalfRequest(socket: Socket): boolean {
  const parser = Reflect.get(socket, 'parser') as { incoming?: IncomingMessage | null } | null; // as Node's own handler
  return parser?.incoming?.complete === false;
}

/** Node's limit on the whole time of a request goes for all but those that may take any time. */
export function onClientError(error: ClientError, socket: Socket): void {
  if (!isLate(error) || !hasBodyIdleTimeout(socket)) answerClientError(error, socket);
}
