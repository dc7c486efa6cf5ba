import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerClientError, lateRequest } from './client-errors.ts';

/** How often the time is looked at before it is over. */
const looks = 6;

/** By socket: the request whose body is limited by its silence. */
const limitedBodies = new WeakMap<Socket, IncomingMessage>();

/**
 * Lets the body of a request take any time, as long as it is never silent for `idleMs` while we wait for it. What comes
 * after the answer has that time in all, so that a client which sends first and reads then gets its answer.
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
    answerClientError(lateRequest(), socket);
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
