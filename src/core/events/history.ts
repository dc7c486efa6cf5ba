import { define } from '../../base/json.ts';
import type { Event } from '../../schemas/event.ts';
import type { Session, State } from '../../schemas/session.ts';

/**
 * The events that no rewind hides: a rewind hides everything from the first event of the invocation it names up to
 * itself. Returns the same array if there is no rewind.
 */
export function activeEvents(events: readonly Event[]): readonly Event[] {
  if (!events.some((event) => event.actions.rewindBeforeInvocationId !== undefined)) return events;
  const active: Event[] = [];
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index];
    if (!event) continue;
    const target = event.actions.rewindBeforeInvocationId;
    if (target === undefined) {
      active.push(event);
      continue;
    }
    const start = events.findIndex(({ invocationId }) => invocationId === target);
    if (start >= 0 && start < index) index = start;
  }
  return active.toReversed();
}

/** The newest event of a session when it last had no rewind, with the session's id, because forks share events. */
const neverRewoundUpTo = new WeakMap<Event, string>();

/** Whether a session's history contains a rewind. Checks only the events since the last call. */
export function wasRewound({ id, events }: Session): boolean {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index] as Event;
    if (event.actions.rewindBeforeInvocationId !== undefined) return true;
    if (neverRewoundUpTo.get(event) !== id) continue;
    neverRewoundUpTo.delete(event);
    break;
  }
  const newest = events.at(-1);
  if (newest) neverRewoundUpTo.set(newest, id);
  return false;
}

/**
 * The state delta that undoes all events after the first `count`. A key that only later events set gets its value from
 * the creation of the session (`initial`), or `null`. The delta has no keys that later events did not set, and no `app:`
 * and `user:` keys, which other sessions share.
 */
export function stateDeltaBackTo(events: readonly Event[], count: number, initial: State = {}): State {
  const delta: State = {};
  for (const event of events.slice(count)) {
    for (const key of Object.keys(event.actions.stateDelta)) {
      if (!isShared(key)) define(delta, key, Object.hasOwn(initial, key) ? initial[key] : null);
    }
  }
  for (const event of events.slice(0, count)) {
    for (const [key, value] of Object.entries(event.actions.stateDelta)) {
      if (Object.hasOwn(delta, key)) define(delta, key, value);
    }
  }
  return delta;
}

const isShared = (key: string): boolean => key.startsWith('app:') || key.startsWith('user:');
