import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client that got its answer may keep its connection, as nginx's `lingering_timeout` and `lingering_time`. */
const silenceMs = 5_000;
const longMs = 30_000;
/** For clients that spoke no HTTP, or too slowly. */
const brieflyMs = 2_000;
const maxBytes = 128 * 1024 * 1024;

const lingering = new WeakSet<Socket>();

/** Whether the connection was answered for the last time. */
export const isLingering = (socket: Socket): boolean => lingering.has(socket);

/**
 * Closes a connection whose client may still be sending. What comes is thrown away for a while: a connection that is
 * closed over unread bytes is reset, and the client loses the answer. Nothing of the client's can keep it open.
 */
export function lingeringClose(socket: Socket, { briefly = false } = {}): void {
  if (lingering.has(socket)) return;
  lingering.add(socket);
  const limit = socket.bytesRead + maxBytes;
  const close = (): void => void socket.destroy();
  const timer = setTimeout(close, briefly ? brieflyMs : longMs);
  socket.removeAllListeners('data'); // the parser of HTTP lets go
  socket.on('data', () => {
    if (socket.bytesRead > limit) close();
  });
  socket.once('end', close).once('close', () => clearTimeout(timer));
  socket.setTimeout(silenceMs, close);
  socket.end();
  socket.resume();
}

/** Makes Node, which is going to close the connection behind an answer, do it so that the answer arrives. */
export function useLingeringClose(socket: Socket): void {
  socket.destroySoon = () => lingeringClose(socket);
}

/** Lets Node read the rest of a request that was answered, and go on with the next, unless the client falls silent. */
export function limitUnreadBody(socket: Socket, response: ServerResponse): void {
  response.once('finish', () => socket.setTimeout(silenceMs));
}
