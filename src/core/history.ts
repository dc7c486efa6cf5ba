import { define } from '../base/json.ts';
import type { Event } from '../schemas/event.ts';
import type { Session, State } from '../schemas/session.ts';

/**
 * The events that still count: a rewind hides everything from the first event of the invocation it names up to itself.
 * Returns the same array when nothing was ever rewound.
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

/** The newest event a session had when it was last found without a rewind; with the session's id, for forks share events. */
const neverRewoundUpTo = new WeakMap<Event, string>();

/** Whether anything in a session's whole history was rewound. Looks only at what came since it was last asked. */
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
 * What changes a session's own state from what it is now to what it was after the first `count` events: for keys that
 * only later events set, what they were when the session was created (`initial`), or `null`. Keys no event touched later
 * stay as they are; `app:` and `user:` keys are shared with other sessions and are left alone.
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
