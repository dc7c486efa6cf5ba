import type { Event } from '../../../src/schemas/event.ts';
import type { EventLog } from './event-log.ts';

/** A value derived from the events of a log, which visits each event once, and starts again when events were replaced. */
export abstract class Follower {
  #seen = 0;
  #last = '';
  #generation = 0;

  /** Visits the events that were added since. */
  follow({ events, generation }: EventLog): void {
    if (generation !== this.#generation || (this.#seen > 0 && events[this.#seen - 1]?.id !== this.#last)) {
      this.reset();
      this.#seen = 0;
      this.#generation = generation;
    }
    for (; this.#seen < events.length; this.#seen += 1) {
      const event = events[this.#seen];
      if (!event) break;
      this.#last = event.id;
      this.take(event, this.#seen);
    }
  }

  protected abstract reset(): void;
  protected abstract take(event: Event, position: number): void;
}

/** Finds a log's own follower, brought up to date. */
export function followerOf<T extends Follower>(make: () => T): (log: EventLog) => T {
  const known = new WeakMap<EventLog, T>();
  return (log) => {
    const follower = known.get(log) ?? make();
    known.set(log, follower);
    follower.follow(log);
    return follower;
  };
}
