import type { OutgoingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { storedEventJson } from '../schemas/event.ts';
import { type Session, sessionJson } from '../schemas/session.ts';
import { jsonType } from './mount.ts';

/** Sessions up to this many events are sent in one go. */
const eventsAtOnce = 200;
const pieceBytes = 256 * 1024;
/** Of UTF-8, for each unit of a JavaScript string. */
const maxBytesPerUnit = 3;
const stallMs = 60_000;

/**
 * Answers a session. A long one leaves in pieces, between which other requests get their turn, and no faster than the
 * client reads.
 */
export async function sendSession(reply: FastifyReply, session: Session): Promise<FastifyReply> {
  if (session.events.length <= eventsAtOnce) {
    return reply.header('content-type', jsonType).send(sessionJson(session));
  }
  const { raw } = reply;
  reply.header('content-type', jsonType).hijack();
  raw.on('error', () => {}); // a write that meets a closed socket: `destroyed` says the rest
  raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
  for (const piece of piecesOf(session)) {
    if (raw.destroyed) break;
    if (raw.write(piece)) await nextTurn();
    else await writable(raw);
  }
  raw.end();
  return reply;
}

/**
 * The JSON of a session in pieces. Texts are written straight into the bytes that leave: joining them first would cost
 * several times as much.
 */
function* piecesOf({ events, ...rest }: Session): Iterable<Buffer> {
  let piece = Buffer.allocUnsafe(pieceBytes);
  let used = 0;
  let lead = `${JSON.stringify(rest).slice(0, -1)},"events":[`;
  for (const event of events) {
    const text = storedEventJson(event);
    const room = (lead.length + text.length) * maxBytesPerUnit;
    if (used + room > piece.length) {
      if (used > 0) yield piece.subarray(0, used);
      piece = Buffer.allocUnsafe(Math.max(pieceBytes, room));
      used = 0;
    }
    used += piece.write(lead, used);
    used += piece.write(text, used);
    lead = ',';
  }
  yield piece.subarray(0, used);
  yield Buffer.from(']}');
}

/** Resolves when there is room again, or nobody left to read; a client that stops reading is left after a minute. */
function writable(raw: FastifyReply['raw']): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => raw.destroy(), stallMs).unref();
    const onReady = (): void => {
      clearTimeout(stalled);
      raw.off('drain', onReady);
      raw.off('close', onReady);
      resolve();
    };
    raw.on('drain', onReady);
    raw.on('close', onReady);
    if (raw.destroyed) onReady();
  });
}
