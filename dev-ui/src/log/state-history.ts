import type { State } from '../../../src/schemas/session.ts';
import type { EventLog } from './event-log.ts';

/** One change of a key, by the event at a position. `null` deletes. */
export interface StateChange {
  readonly position: number;
  readonly value: unknown;
}

const known = new WeakMap<EventLog, StateHistory>();

/** The history of a log's state, up to date. */
export function stateHistoryOf(log: EventLog): StateHistory {
  const history = known.get(log) ?? new StateHistory();
  known.set(log, history);
  history.follow(log);
  return history;
}

/** Who changed what when: looks at each event once. */
export class StateHistory {
  readonly changes = new Map<string, StateChange[]>();
  #seen = 0;
  #last = '';
  #generation = 0;

  /** Takes in what the log has got since; begins again when events it has seen were replaced. */
  follow({ events, generation }: EventLog): void {
    if (generation !== this.#generation || (this.#seen > 0 && events[this.#seen - 1]?.id !== this.#last)) {
      this.changes.clear();
      this.#seen = 0;
      this.#generation = generation;
    }
    for (; this.#seen < events.length; this.#seen += 1) {
      const event = events[this.#seen];
      if (!event) break;
      this.#last = event.id;
      for (const [key, value] of Object.entries(event.actions.stateDelta)) {
        const changes = this.changes.get(key);
        const change = { position: this.#seen, value };
        if (changes) changes.push(change);
        else this.changes.set(key, [change]);
      }
    }
  }

  /**
   * The state after the event at a position, made from what it is now. A key that only later events wrote is left out:
   * what it was before is not known.
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

  /** What a key was before the change at a position; `undefined` when that is not known or nothing. */
  before(key: string, position: number): unknown {
    const changes = this.changes.get(key) ?? [];
    return changes[lastUpTo(changes, position - 1)]?.value ?? undefined;
  }
}

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
