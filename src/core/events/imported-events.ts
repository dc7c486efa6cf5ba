import { AppError } from '../../base/errors.ts';
import type { Content } from '../../schemas/content.ts';
import { type Event, functionCalls } from '../../schemas/event.ts';

const imported: unique symbol = Symbol.for('agent-server.imported-events');

const shared = globalThis as { [imported]?: WeakSet<Event> };

/**
 * Kept beside the events and not in them, so that no client can set or remove the mark. All copies of this package in the
 * process share it: a third-party store may bring its own copy.
 */
const importedEvents = (shared[imported] ??= new WeakSet<Event>());

/**
 * Marks the first events of a history as imported by a client. Clients and models see them like all others, but the
 * server never acts on them, for instance resumes a call. Stores mark the events they read.
 */
export function markImported(events: readonly Event[], count = events.length): void {
  for (let index = 0; index < count; index += 1) {
    const event = events[index];
    if (event) importedEvents.add(event);
  }
}

export const isImported = (event: Event): boolean => importedEvents.has(event);

/** How many of these events, from the first, were imported: a session begins with them, and nothing comes in between. */
export function importedCount(events: readonly Event[]): number {
  let count = 0;
  for (const event of events) {
    if (!isImported(event)) break;
    count += 1;
  }
  return count;
}

/** The events that this server made: the only ones that a run may be resumed from. */
export function ownEvents(events: readonly Event[]): readonly Event[] {
  const count = importedCount(events);
  return count === 0 ? events : events.slice(count);
}

/** Throws `imported_history` when the message answers a call that only imported events know. */
export function refuseImportedAnswers(message: Content | undefined, events: readonly Event[]): void {
  if (!message?.parts.some((part) => part.functionResponse !== undefined) || importedCount(events) === 0) return;
  const ids = new Set(message.parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []));
  const isAnswered = (event: Event): boolean => functionCalls(event).some(({ id }) => id !== undefined && ids.has(id));
  if (events.some((event) => isImported(event) && isAnswered(event)) && !ownEvents(events).some(isAnswered)) {
    throw importedHistory('The message answers a call of an imported event');
  }
}

export const importedHistory = (what: string): AppError =>
  new AppError('imported_history', `${what}: this server cannot resume what it did not do itself. Send a new message`);
