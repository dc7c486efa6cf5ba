import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { respondToClientError, lateRequest } from '../errors/client-errors.ts';

/** How often the idle time is checked before it expires. */
const looks = 6;

/** By socket: the request whose body has an idle timeout instead of a total one. */
const limitedBodies = new WeakMap<Socket, IncomingMessage>();

/**
 * Replaces the total timeout of a request body by an idle timeout: the client must not pause for `idleMs` while the server
 * waits for data. After the response, the rest of the body gets `idleMs` in total, so that a client that sends everything
 * before it reads still gets the response.
 */
export function limitBodyIdleTime(request: IncomingMessage, response: ServerResponse, idleMs: number): void {
  const { socket } = request;
  limitedBodies.set(socket, request);
  let seen = socket.bytesRead;
  let silent = 0;
  let timer = setInterval(() => {
    const waitsForUs = request.complete || request.readableLength > 0;
    silent = waitsForUs || socket.bytesRead > seen ? 0 : silent + 1;
    seen = socket.bytesRead;
    if (silent < looks) return;
    respondToClientError(lateRequest(), socket);
  }, idleMs / looks);
  response.once('finish', () => {
    clearInterval(timer);
    if (request.complete || request.destroyed) return;
    timer = setTimeout(() => request.destroy(), idleMs);
    request.on('data', () => {}).resume(); // a listener, because its reader may not have let go yet
  });
  request.once('close', () => clearInterval(timer));
}

/** Whether the socket is in the middle of such a body. */
export const hasBodyIdleTimeout = (socket: Socket): boolean => limitedBodies.get(socket)?.complete === false;
