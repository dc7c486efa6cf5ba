import { abortable } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { roughSize } from '../../base/rough-size.ts';
import type { Position, StreamedEvent } from '../../core/runs.ts';
import type { Event } from '../../schemas/event.ts';
import type { EventLogMemory } from './event-log-memory.ts';
import type { EventAnchor } from './stored-events.ts';

/** Approximate limit in bytes for one log. */
const maxBytes = 4 * 1024 * 1024;

export const logStart: Position = { events: 0, chunks: 0 };

/** Reads the stored events of the run after its first `after` ones. */
export type ReadStored = (after: number, anchor: EventAnchor | undefined) => AsyncIterable<StreamedEvent>;

interface HeldEvent {
  readonly streamed: StreamedEvent;
  readonly size: number;
}

/**
 * The events and chunks of one run in memory, for readers that join late. When memory is short, stored events leave
 * first-in first-out and are read back from the session; chunks are not stored and are lost. One writer, any number of
 * readers, each at its own pace; no reader blocks the writer.
 */
export class RunEventLog {
  readonly #readStored: ReadStored;
  readonly #memory: EventLogMemory | undefined;
  #held: HeldEvent[] = [];
  #size = 0;
  #events = 0;
  #chunks = 0;
  /** How many of the first stored events are not in memory any more. */
  #dropped = 0;
  #first: EventAnchor | undefined;
  #last: Event | undefined;
  /** Counts evictions: an index into `#held` is void after one. */
  #evictions = 0;
  #hasEnded = false;
  #failure: unknown;
  #changed: PromiseWithResolvers<void> | undefined;

  /** `memory`: bounds all logs of the process together. */
  constructor(readStored: ReadStored, memory?: EventLogMemory) {
    this.#readStored = readStored;
    this.#memory = memory;
  }

  /** The position of the newest event or chunk. */
  get position(): Position {
    return { events: this.#events, chunks: this.#chunks };
  }

  /** Approximate bytes in memory. */
  get size(): number {
    return this.#size;
  }

  /** `isChunk`: the event is streamed and not stored. */
  append(event: Event, isChunk = event.partial === true): void {
    if (isChunk) this.#chunks += 1;
    else {
      // The session may have shown it to a log that was opened in the middle of the run.
      if (this.#chunks === 0 && this.#last === event) return;
      this.#last = event;
      this.#events += 1;
      this.#chunks = 0;
      this.#first ??= { number: this.#events, eventId: event.id };
    }
    this.#hold({ event, ...this.position });
    this.#changed?.resolve();
    this.#changed = undefined;
  }

  /** Appends a chunk that another log has numbered, unless it is a duplicate or late. */
  appendChunk({ event, events, chunks }: StreamedEvent): void {
    if (events !== this.#events || chunks <= this.#chunks) return;
    this.#chunks = chunks - 1;
    this.append(event, true);
  }

  /** Ends the log; `failure` is the error that ended the run. Only the first call counts. */
  end(failure: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#failure = failure;
    this.#changed?.resolve();
    this.#changed = undefined;
  }

  /** Drops everything from memory. */
  clear(): void {
    this.#dropped = this.#events;
    this.#last = undefined;
    this.#retain(() => false);
  }

  /** Yields what follows a position, then what is appended. Throws the error that ended the run. */
  async *read(after: Position, signal: AbortSignal): AsyncGenerator<StreamedEvent, void, void> {
    let last = after;
    let index = 0;
    let evictions: number | undefined;
    for (;;) {
      while (last.events < this.#dropped) {
        for await (const streamed of this.#readDropped(last.events)) {
          signal.throwIfAborted();
          last = streamed;
          yield streamed;
        }
      }
      if (evictions !== this.#evictions) {
        evictions = this.#evictions;
        index = this.#indexAfter(last);
      }
      const streamed = this.#held[index]?.streamed;
      if (streamed) {
        index += 1;
        if (!isAfter(streamed, last)) continue; // a reader may be ahead of a log that is filled again
        last = streamed;
        yield streamed;
      } else if (this.#hasEnded) {
        if (this.#failure !== undefined) throw this.#failure;
        return;
      } else {
        this.#changed ??= Promise.withResolvers();
        await abortable(this.#changed.promise, signal);
      }
    }
  }

  /** Reads the dropped events after the first `after` ones from where they are stored. */
  async *#readDropped(after: number): AsyncGenerator<StreamedEvent, void, void> {
    const end = this.#dropped;
    for await (const streamed of this.#readStored(after, this.#first)) {
      yield streamed;
      if (streamed.events >= end) return;
    }
    throw new AppError('run_not_found', 'The events of the run are no longer kept');
  }

  #hold(streamed: StreamedEvent): void {
    const size = roughSize(streamed.event);
    this.#held.push({ streamed, size });
    this.#resize(size);
    if (this.#size > maxBytes) this.#makeRoom();
  }

  /** Drops the chunks of finished steps first, then the oldest stored events, then the oldest chunks of this step. */
  #makeRoom(): void {
    this.#retain(({ events, chunks }) => chunks === 0 || events === this.#events);
    if (this.#size <= maxBytes) return;
    let left = this.#size;
    for (const { streamed, size } of this.#held) {
      if (left <= maxBytes / 2) break; // not one at a time
      if (streamed.chunks > 0) continue;
      left -= size;
      this.#dropped = streamed.events;
    }
    this.#retain(({ events, chunks }) => chunks > 0 || events > this.#dropped);
    while (this.#size > maxBytes) {
      const oldest = this.#held[0]?.streamed.chunks ?? 0;
      const middle = (oldest + this.#chunks) / 2;
      this.#retain(({ chunks }) => chunks > middle);
    }
  }

  #retain(isRetained: (streamed: StreamedEvent) => boolean): void {
    this.#held = this.#held.filter(({ streamed }) => isRetained(streamed));
    this.#evictions += 1;
    this.#resize(this.#held.reduce((sum, { size }) => sum + size, 0) - this.#size);
  }

  #resize(change: number): void {
    this.#size += change;
    this.#memory?.resized(this, this.#size, change);
  }

  /** The index of the first held event after a position. */
  #indexAfter(position: Position): number {
    let [low, high] = [0, this.#held.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const held = this.#held[middle];
      if (held && !isAfter(held.streamed, position)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isAfter = (one: Position, other: Position): boolean =>
  one.events > other.events || (one.events === other.events && one.chunks > other.chunks);
