import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../base/json.ts';
import { type Event, newActions } from '../../schemas/event.ts';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';

/** An owner no other test has, so that a suite may run against a store that is shared or not empty. */
export const freshOwner = (): SessionOwner => ({ appName: `app-${randomUUID()}`, userId: 'ada' });
export const freshKey = (): SessionKey => ({ ...freshOwner(), sessionId: 's1' });

/** A whole event that says something and changes the state by a delta. */
export function saying(text: string, delta: JsonObject = {}, fields: Partial<Event> = {}): Event {
  return {
    id: randomUUID(),
    invocationId: 'e-1',
    author: 'poet',
    timestamp: Date.now() / 1000,
    content: { role: 'model', parts: [{ text }] },
    ...fields,
    actions: { ...newActions(), stateDelta: delta },
  };
}
