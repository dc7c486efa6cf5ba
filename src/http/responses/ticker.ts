import { LinkedList, type ListNode } from '../../base/linked-list.ts';

/** An object that a Ticker calls at equal intervals. */
export interface Tickable extends ListNode<Tickable> {
  /** Called once per interval. */
  tick(): void;
}

/**
 * One timer for all open streams. It runs only while there are any. A timer per stream, or reading the clock for each
 * event, would cost more than the event.
 */
export class Ticker {
  readonly #everyMs: number;
  readonly #members = new LinkedList<Tickable>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  join(member: Tickable): void {
    this.#members.add(member);
    this.#timer ??= setInterval(this.#tick, this.#everyMs).unref();
  }

  leave(member: Tickable): void {
    this.#members.remove(member);
    if (this.#members.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #tick = (): void => {
    for (const member of this.#members.all()) member.tick();
  };
}
