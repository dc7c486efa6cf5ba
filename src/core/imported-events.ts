import { AppError } from '../base/errors.ts';
import type { Content } from '../schemas/content.ts';
import { type Event, functionCalls } from '../schemas/event.ts';

const imported: unique symbol = Symbol.for('agent-server.imported-events');

const shared = globalThis as { [imported]?: WeakSet<Event> };

/**
 * Kept beside the events: nothing of it is on the wire, so no client can write it or take it away. All copies of this
 * package in the process share it: a store of somebody else's may bring its own.
 */
const importedEvents = (shared[imported] ??= new WeakSet<Event>());

/**
 * Marks the first events of a history as brought by a client. They are shown and told to models like all others, but
 * carry no authority: nothing this server does by itself rests on them. Stores mark what they read.
 */
export function markImported(events: readonly Event[], count = events.length): void {
  for (let index = 0; index < count; index += 1) {
    const event = events[index];
    if (event) importedEvents.add(event);
  }
}

export const isImported = (event: Event): boolean => importedEvents.has(event);

/** The events that came about here: all that resumption may rest on. */
export const ownEvents = (events: readonly Event[]): readonly Event[] =>
  events.some(isImported) ? events.filter((event) => !isImported(event)) : events;

/** How many of these events, from the first, were imported. */
export const importedCount = (events: readonly Event[]): number => events.findLastIndex(isImported) + 1;

/** Throws `imported_history` when the message answers a call that only imported events know. */
export function refuseImportedAnswers(message: Content | undefined, events: readonly Event[]): void {
  if (!message?.parts.some((part) => part.functionResponse !== undefined) || !events.some(isImported)) return;
  const ids = new Set(message.parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []));
  const isAnswered = (event: Event): boolean => functionCalls(event).some(({ id }) => id !== undefined && ids.has(id));
  if (events.some((event) => isImported(event) && isAnswered(event)) && !ownEvents(events).some(isAnswered)) {
    throw importedHistory('The message answers a call of an imported event');
  }
}

export const importedHistory = (what: string): AppError =>
  new AppError(
    'imported_history',
    `${what}: what this server did not do itself cannot be gone on with. Say something new`,
  );
