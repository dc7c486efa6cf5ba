import { randomUUID } from 'node:crypto';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../base/errors.ts';
import { lingeringClose, isLingering } from './lingering-close.ts';
import { problemOf, problemType } from './problems.ts';

/** What Node reports for a connection without a valid request. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The received bytes. */
  readonly rawPacket?: unknown;
}

const lateCode = 'ERR_HTTP_REQUEST_TIMEOUT';

/** What Node throws when a request did not arrive in time. */
export const lateRequest = (): ClientError => Object.assign(new Error('The request is late'), { code: lateCode });
export const isLate = ({ code }: ClientError): boolean => code === lateCode;

/** Responds to data that Node could not parse as a request (before any route is known), and closes the connection. */
export function respondToClientError(error: ClientError, socket: Socket): void {
  if (isLingering(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable || responseOn(socket)?.headersSent) socket.destroy();
  else respondAndClose(socket, asAppError(error), isLate(error) ? 408 : undefined);
}

/** Writes an error response on a connection that Fastify does not manage, and closes it. */
export function respondAndClose(socket: Socket, error: AppError, status?: number): void {
  const requestId = randomUUID();
  const problem = { ...problemOf(error, undefined, status), requestId };
  const body = JSON.stringify(problem);
  socket.write(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: ${problemType}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\nX-Request-Id: ${requestId}\r\n\r\n${body}`,
  );
  lingeringClose(socket, { briefly: true });
}

/** The active response on this socket. Once its headers are sent, anything else written would become part of its body. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage'); // Node's own handler looks at the same field
  return response instanceof ServerResponse ? response : undefined;
}

/** A valid HTTP request line: if Node rejects one, it does not know the method. */
const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/;

function asAppError({ code, rawPacket }: ClientError): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('headers_too_large', 'The request headers are too large');
  if (code === lateCode) return new AppError('timed_out', 'The request took too long to arrive');
  if (code === 'HPE_INVALID_METHOD' && isRequest(rawPacket)) {
    return new AppError('not_supported', 'The request method is not supported');
  }
  return new AppError('invalid_request', 'The request is not valid HTTP');
}

const isRequest = (packet: unknown): boolean =>
  Buffer.isBuffer(packet) && requestLine.test(packet.toString('latin1', 0, 8192));
