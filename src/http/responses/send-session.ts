import type { FastifyReply } from 'fastify';
import type { SessionReading } from '../../core/services.ts';
import { type Event, storedEventJson } from '../../schemas/event.ts';
import type { ListEventsResponse } from '../../schemas/records.ts';
import { sendJsonStream, sendJsonText } from './streamed-body.ts';

/** Sends a session of any length. */
export function sendSession(reply: FastifyReply, { events, ...rest }: SessionReading): Promise<FastifyReply> {
  const head = `${JSON.stringify(rest).slice(0, -1)},"events":[`;
  if (Symbol.asyncIterator in events) return sendJsonStream(reply, pulled(head, events, ']}'));
  const isEmpty = Array.isArray(events) && events.length === 0;
  return isEmpty ? sendJsonText(reply, `${head}]}`) : sendJsonStream(reply, given(head, events, ']}'));
}

export function sendEventPage(reply: FastifyReply, { events, ...rest }: ListEventsResponse): Promise<FastifyReply> {
  return sendJsonStream(reply, given('{"events":[', events, `],${JSON.stringify(rest).slice(1)}`));
}

function* given(head: string, events: Iterable<Event>, tail: string): Generator<string, void, void> {
  yield head;
  let comma = '';
  for (const event of events) {
    if (comma) yield comma;
    comma = ',';
    yield storedEventJson(event);
  }
  yield tail;
}

async function* pulled(head: string, events: AsyncIterable<Event>, tail: string): AsyncGenerator<string, void, void> {
  yield head;
  let comma = '';
  for await (const event of events) {
    if (comma) yield comma;
    comma = ',';
    yield storedEventJson(event);
  }
  yield tail;
}
