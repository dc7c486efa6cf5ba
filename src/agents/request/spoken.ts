import type { Event } from '../../schemas/event.ts';

const written = new WeakMap<Event, Event>();

/** The event with what was said aloud in it as text; the event itself when nothing was. Made once for stored events. */
export function spoken(event: Event): Event {
  const { inputTranscription, outputTranscription } = event;
  const text = inputTranscription?.text ?? outputTranscription?.text;
  if (!text) return event;
  const known = written.get(event);
  if (known) return known;
  const role = inputTranscription?.text ? 'user' : 'model';
  const made = { ...event, content: { role, parts: [{ text }] } };
  if (Object.isFrozen(event)) written.set(event, made);
  return made;
}
