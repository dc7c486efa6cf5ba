import { LinkedList, type ListNode } from '../../base/linked-list.ts';
import type { Event } from '../../schemas/event.ts';

/** The first events of a history, in a new array; `size` counts the characters of their JSON. */
export interface CachedHistory {
  readonly events: Event[];
  /** The number of the event after the last one. */
  readonly nextSeq: number;
  readonly size: number;
}

/** Identifies a session in its store; never reused. */
export type SessionNumber = number | string;

/** The state of a history in its store: events are numbered from 1, and `revision` counts changes other than appends. */
export interface Position {
  readonly sessionNumber: SessionNumber;
  readonly revision: number;
  /** The number of the next event. */
  readonly nextSeq: number;
}

interface CacheEntry extends ListNode<CacheEntry> {
  readonly sessionNumber: SessionNumber;
  readonly revision: number;
  nextSeq: number;
  readonly events: Event[];
  size: number;
}

const defaultMaxSize = 32 * 1024 * 1024;

/**
 * Caches histories of a database, so that a run reads only the new events. The store stays the authority: callers get the
 * current position of a history from it, and read missing events.
 */
export class HistoryCache {
  readonly #bySession = new Map<SessionNumber, CacheEntry>();
  readonly #recency = new LinkedList<CacheEntry>();
  readonly #maxSize: number;
  #size = 0;

  /** `maxSize` counts the characters of the events' JSON. */
  constructor(maxSize = defaultMaxSize) {
    this.#maxSize = maxSize;
  }

  /** The cached events of a history, from the first on. */
  find({ sessionNumber, revision, nextSeq }: Position): CachedHistory | undefined {
    const held = this.#bySession.get(sessionNumber);
    if (!held) return undefined;
    if (held.revision !== revision || held.nextSeq > nextSeq) {
      this.#forget(held);
      return undefined;
    }
    this.#recency.remove(held);
    this.#recency.add(held);
    // A copy, because appends continue while the caller reads missing events.
    return { events: held.events.slice(), nextSeq: held.nextSeq, size: held.size };
  }

  /** Caches a whole history, unless a longer one is cached by now. `size` counts the characters of its JSON. */
  keep({ sessionNumber, revision, nextSeq }: Position, events: Event[], size: number): void {
    const old = this.#bySession.get(sessionNumber);
    if (old && old.revision === revision && old.nextSeq >= nextSeq) return;
    if (old) this.#forget(old);
    const held: CacheEntry = {
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

  /** Adds the event with number `seq` to a cached history that ends right before it. Does nothing otherwise. */
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

  #forget(held: CacheEntry): void {
    this.#recency.remove(held);
    this.#bySession.delete(held.sessionNumber);
    this.#size -= held.size;
  }
}
