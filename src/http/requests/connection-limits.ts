import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../base/errors.ts';
import {
  respondToClientError,
  respondAndClose,
  type ClientError,
  isLate,
  lateRequest,
  responseOn,
} from '../errors/client-errors.ts';
import { isLingering } from '../errors/lingering-close.ts';
import { hasBodyIdleTimeout } from './body-idle-timeout.ts';

/** Idle time after which a connection is checked. */
const silenceMs = 15_000;

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** How long a client may leave a response unread. */
  readonly stallMs: number;
}

/** Closes connections whose client does nothing: sends half a request, does not read its response, or neither. */
export function limitConnections(server: Server, { maxConnections, stallMs }: ConnectionLimits): void {
  server.maxConnections = maxConnections;
  server.timeout = silenceMs;
  server.on('timeout', (socket: Socket) => onSocketTimeout(socket, stallMs));
  // At the limit, idle keep-alive connections are closed to make room.
  server.on('drop', () => server.closeIdleConnections());
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    respondAndClose(socket, new AppError('not_supported', 'CONNECT is not supported'));
  });
}

/** Node leaves all idle connections to a `timeout` listener, including those between two requests. */
function onSocketTimeout(socket: Socket, stallMs: number): void {
  if (isLingering(socket)) return;
  if (socket.writableLength > 0) {
    if ((socket.timeout ?? 0) >= stallMs) socket.destroy();
    else socket.setTimeout(stallMs);
  } else if (!responseOn(socket)) {
    socket.destroy(); // between two requests, or after the response to an incomplete one
  } else if (hasHalfRequest(socket) && !hasBodyIdleTimeout(socket)) {
    respondToClientError(lateRequest(), socket);
  }
}

function hasHalfRequest(socket: Socket): boolean {
  const parser = Reflect.get(socket, 'parser') as { incoming?: IncomingMessage | null } | null; // as Node's own handler
  return parser?.incoming?.complete === false;
}

/** Applies Node's total request timeout, except to bodies with an idle timeout. */
export function onClientError(error: ClientError, socket: Socket): void {
  if (!isLate(error) || !hasBodyIdleTimeout(socket)) respondToClientError(error, socket);
}
