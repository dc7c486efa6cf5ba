import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may keep its connection after the last response, as nginx's `lingering_timeout` and `lingering_time`. */
const silenceMs = 5_000;
const longMs = 30_000;
/** For clients that sent no valid HTTP, or were too slow. */
const brieflyMs = 2_000;
const maxBytes = 128 * 1024 * 1024;

const lingering = new WeakSet<Socket>();

/** Whether the connection is closing after its last response. */
export const isLingering = (socket: Socket): boolean => lingering.has(socket);

/**
 * Closes a connection whose client may still be sending. It discards incoming data for a while: closing a connection with
 * unread bytes resets it, and the client loses the response. The client cannot keep it open beyond the limits above.
 */
export function lingeringClose(socket: Socket, { briefly = false } = {}): void {
  if (lingering.has(socket)) return;
  lingering.add(socket);
  const limit = socket.bytesRead + maxBytes;
  const close = (): void => void socket.destroy();
  const timer = setTimeout(close, briefly ? brieflyMs : longMs);
  socket.removeAllListeners('data'); // detaches Node's HTTP parser
  socket.on('data', () => {
    if (socket.bytesRead > limit) close();
  });
  socket.once('end', close).once('close', () => clearTimeout(timer));
  socket.setTimeout(silenceMs, close);
  socket.end();
  socket.resume();
}

/** Makes Node use a lingering close when it closes the connection after the response. */
export function useLingeringClose(socket: Socket): void {
  socket.destroySoon = () => lingeringClose(socket);
}

/** Lets Node read the rest of an answered request and keep the connection, unless the client stops sending. */
export function limitUnreadBody(socket: Socket, response: ServerResponse): void {
  response.once('finish', () => socket.setTimeout(silenceMs));
}
