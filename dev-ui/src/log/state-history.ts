import type { Event } from '../../../src/schemas/event.ts';
import type { State } from '../../../src/schemas/session.ts';
import { Follower, followerOf } from './follower.ts';

/** One change of a key, by the event at a position. `null` deletes. */
export interface StateChange {
  readonly position: number;
  readonly value: unknown;
}

/** The changes of the state by key. */
export class StateHistory extends Follower {
  readonly changes = new Map<string, StateChange[]>();

  protected override reset(): void {
    this.changes.clear();
  }

  protected override take({ actions }: Event, position: number): void {
    for (const [key, value] of Object.entries(actions.stateDelta)) {
      const changes = this.changes.get(key);
      if (changes) changes.push({ position, value });
      else this.changes.set(key, [{ position, value }]);
    }
  }

  /**
   * The state after the event at a position, computed back from the current state. A key that only later events wrote
   * is left out, because its earlier value is unknown.
   */
  stateAt(position: number, now: State): State {
    const state: State = {};
    for (const [key, value] of Object.entries(now)) if (!this.changes.has(key)) state[key] = value;
    for (const [key, changes] of this.changes) {
      const change = changes[lastUpTo(changes, position)];
      if (change && change.value !== null) state[key] = change.value;
    }
    return state;
  }

  /** The value of a key before the change at a position; `undefined` when it is unknown or absent. */
  before(key: string, position: number): unknown {
    const changes = this.changes.get(key) ?? [];
    return changes[lastUpTo(changes, position - 1)]?.value ?? undefined;
  }
}

/** The history of a log's state. */
export const stateHistoryOf = followerOf(() => new StateHistory());

/** Index of the last change at or before a position; -1 when there is none. */
function lastUpTo(changes: readonly StateChange[], position: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle]?.position ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
