import type { OutgoingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { eventJson } from '../schemas/event.ts';
import { type Session, sessionJson } from '../schemas/session.ts';
import { jsonType } from './mount.ts';

/** Events of a session that are sent in one go. */
const eventsAtOnce = 500;
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
  const { events, ...rest } = session;
  let lead = `${JSON.stringify(rest).slice(0, -1)},"events":[`;
  for (let from = 0; from < events.length && !raw.destroyed; from += eventsAtOnce) {
    const text =
      lead +
      events
        .slice(from, from + eventsAtOnce)
        .map(eventJson)
        .join(',');
    lead = ',';
    if (raw.write(text)) await nextTurn();
    else await writable(raw);
  }
  raw.end(']}');
  return reply;
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
