import type { FastifyReply, FastifyRequest } from 'fastify';
import { Room } from '../base/room.ts';
import type { HttpConfig } from './deps.ts';
import { clientSignal } from './run-headers.ts';

/** Bodies up to this size are not counted: their number is limited by that of the connections. */
const smallBytes = 16 * 1024;

/**
 * Has a body read once there is room for it, which it keeps until its request is answered. Until then its client has to
 * wait, because nobody takes what it sends.
 */
export function bodyHolder({ bodiesLimitBytes, bodyLimitBytes: limitBytes }: HttpConfig) {
  const room = new Room(bodiesLimitBytes, ['unavailable', 'Too many large requests at once']);
  return ({ headers }: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : limitBytes;
    if (!(bytes > smallBytes) || bytes > limitBytes) {
      done(); // what is above the limit is refused unread
      return;
    }
    const enter = (): void => {
      if (reply.raw.destroyed) room.leave(bytes);
      else reply.raw.once('close', () => room.leave(bytes));
      done();
    };
    const waiting = room.enter(bytes, clientSignal(reply));
    if (waiting) waiting.then(enter, done);
    else enter();
  };
}
