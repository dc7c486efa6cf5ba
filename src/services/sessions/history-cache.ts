import { LinkedList, type ListNode } from '../../base/linked-list.ts';
import type { Event } from '../../schemas/event.ts';

/** The first events of a history, in an array of their own; `size` counts the characters of their JSON. */
export interface Remembered {
  readonly events: Event[];
  /** The number of the event after the last. */
  readonly nextSeq: number;
  readonly size: number;
}

/** What names a session in its store; never given twice. */
export type SessionNumber = number | string;

/** Where a history stands in its store: events are numbered from 1, and `revision` counts changes that are no appends. */
export interface Position {
  readonly sessionNumber: SessionNumber;
  readonly revision: number;
  /** The number the next event will get. */
  readonly nextSeq: number;
}

interface Held extends ListNode<Held> {
  readonly sessionNumber: SessionNumber;
  readonly revision: number;
  nextSeq: number;
  readonly events: Event[];
  size: number;
}

const defaultMaxSize = 32 * 1024 * 1024;

/**
 * Histories read from a database, so that a turn reads only what was added since the last one. It never answers for
 * the store: whoever asks knows from the store how far a history goes, and reads what is missing.
 */
export class HistoryCache {
  readonly #bySession = new Map<SessionNumber, Held>();
  readonly #recency = new LinkedList<Held>();
  readonly #maxSize: number;
  #size = 0;

  /** `maxSize` counts the characters of the events' JSON. */
  constructor(maxSize = defaultMaxSize) {
    this.#maxSize = maxSize;
  }

  /** What is held of a history, from its first event on. */
  find({ sessionNumber, revision, nextSeq }: Position): Remembered | undefined {
    const held = this.#bySession.get(sessionNumber);
    if (!held) return undefined;
    if (held.revision !== revision || held.nextSeq > nextSeq) {
      this.#forget(held);
      return undefined;
    }
    this.#recency.remove(held);
    this.#recency.add(held);
    // A copy: appends go on while the caller reads what is missing.
    return { events: held.events.slice(), nextSeq: held.nextSeq, size: held.size };
  }

  /** Keeps a whole history, unless more of it is held by now. `size` counts the characters of its JSON. */
  keep({ sessionNumber, revision, nextSeq }: Position, events: Event[], size: number): void {
    const old = this.#bySession.get(sessionNumber);
    if (old && old.revision === revision && old.nextSeq >= nextSeq) return;
    if (old) this.#forget(old);
    const held: Held = {
      sessionNumber,
      revision,
      nextSeq,
      events: events.slice(),
      size,
      previous: undefined,
      next: undefined,
    };
    this.#bySession.set(sessionNumber, held);
    this.#recency.add(held);
    this.#grow(size);
  }

  /** Adds the event of number `seq` to a history that ends right before it; others learn of it when they are read. */
  add(sessionNumber: SessionNumber, seq: number, event: Event, size: number): void {
    const held = this.#bySession.get(sessionNumber);
    if (held?.nextSeq !== seq) return;
    held.events.push(event);
    held.nextSeq += 1;
    held.size += size;
    this.#grow(size);
  }

  #grow(size: number): void {
    this.#size += size;
    for (let oldest = this.#recency.first; oldest && this.#size > this.#maxSize; oldest = this.#recency.first) {
      this.#forget(oldest);
    }
  }

  #forget(held: Held): void {
    this.#recency.remove(held);
    this.#bySession.delete(held.sessionNumber);
    this.#size -= held.size;
  }
}
