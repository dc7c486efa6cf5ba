import type { FastifyReply } from 'fastify';
import { storedEventJson } from '../schemas/event.ts';
import type { Session } from '../schemas/session.ts';
import { sendJsonPieces } from './pulled-body.ts';

/** Answers a session, whatever its length. */
export function sendSession(reply: FastifyReply, session: Session): Promise<FastifyReply> {
  return sendJsonPieces(reply, piecesOf(session));
}

function* piecesOf({ events, ...rest }: Session): Generator<string, void, void> {
  yield `${JSON.stringify(rest).slice(0, -1)},"events":[`;
  let lead = '';
  for (const event of events) {
    if (lead) yield lead;
    lead = ',';
    yield storedEventJson(event);
  }
  yield ']}';
}
