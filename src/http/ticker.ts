import { Bag, type Bagged } from './bag.ts';

/** Something that wants to hear the passing of time. */
export interface Pulsed extends Bagged {
  /** Called once per beat. */
  beat(): void;
}

/**
 * One timer for all open streams, running only while there are any: a timer per stream, or a clock read per event,
 * would cost more than the event.
 */
export class Pulse {
  readonly #everyMs: number;
  readonly #members = new Bag<Pulsed>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  join(member: Pulsed): void {
    this.#members.add(member);
    this.#timer ??= setInterval(this.#beat, this.#everyMs).unref();
  }

  leave(member: Pulsed): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #beat = (): void => {
    for (const member of this.#members.all()) member.beat();
  };
}
