import { abortable } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { roughSize } from '../../base/rough-size.ts';
import type { Frame, Position } from '../../core/runs.ts';
import type { Event } from '../../schemas/event.ts';
import type { FeedRoom } from './event-log-memory.ts';
import type { Landmark } from './stored-events.ts';

/** What a feed may hold, roughly in bytes. */
const maxBytes = 4 * 1024 * 1024;

export const start: Position = { whole: 0, piece: 0 };

/** Reads whole events behind the first `after` from where they are stored. */
export type ReadStored = (after: number, landmark: Landmark | undefined) => AsyncIterable<Frame>;

interface Held {
  readonly frame: Frame;
  readonly size: number;
}

/**
 * The events of a run for whoever comes late, as long as there is room: whole events that are no longer held are read
 * from where they are stored, pieces are gone. One writer, any number of readers, each at its own pace; none of them
 * holds up the writer.
 */
export class RunFeed {
  readonly #readStored: ReadStored;
  readonly #room: FeedRoom | undefined;
  #held: Held[] = [];
  #size = 0;
  #whole = 0;
  #piece = 0;
  /** Whole events that are no longer held: the first so many. */
  #dropped = 0;
  #first: Landmark | undefined;
  #last: Event | undefined;
  /** Counts the times frames were dropped: places in the list are void then. */
  #cuts = 0;
  #isOver = false;
  #failure: unknown;
  #news: PromiseWithResolvers<void> | undefined;

  /** `room`: what all feeds may hold together. */
  constructor(readStored: ReadStored, room?: FeedRoom) {
    this.#readStored = readStored;
    this.#room = room;
  }

  /** Where the feed ends for now. */
  get position(): Position {
    return { whole: this.#whole, piece: this.#piece };
  }

  /** Roughly the bytes that are held. */
  get size(): number {
    return this.#size;
  }

  /** `isPiece`: the event is shown and not stored. */
  put(event: Event, isPiece = event.partial === true): void {
    if (isPiece) this.#piece += 1;
    else {
      // A reader that joins may have found it in the session already.
      if (this.#piece === 0 && this.#last === event) return;
      this.#last = event;
      this.#whole += 1;
      this.#piece = 0;
      this.#first ??= { whole: this.#whole, eventId: event.id };
    }
    this.#hold({ event, ...this.position });
    this.#news?.resolve();
    this.#news = undefined;
  }

  /** Puts a piece that another feed has numbered; one that is there already, or comes late, is left out. */
  putPiece({ event, whole, piece }: Frame): void {
    if (whole !== this.#whole || piece <= this.#piece) return;
    this.#piece = piece - 1;
    this.put(event, true);
  }

  /** Nothing more will come; `failure` is what ended the run. Only the first call counts. */
  end(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#news?.resolve();
    this.#news = undefined;
  }

  /** Lets go of all that is held. */
  clear(): void {
    this.#dropped = this.#whole;
    this.#last = undefined;
    this.#keep(() => false);
  }

  /** The frames behind a place, then those to come. Throws what ended the run. */
  async *read(after: Position, signal: AbortSignal): AsyncGenerator<Frame, void, void> {
    let last = after;
    let index = 0;
    let cuts: number | undefined;
    for (;;) {
      while (last.whole < this.#dropped) {
        for await (const frame of this.#stored(last.whole)) {
          signal.throwIfAborted();
          last = frame;
          yield frame;
        }
      }
      if (cuts !== this.#cuts) {
        cuts = this.#cuts;
        index = this.#indexAfter(last);
      }
      const frame = this.#held[index]?.frame;
      if (frame) {
        index += 1;
        if (!isAfter(frame, last)) continue; // whoever reads on may be ahead of a feed that is filled anew
        last = frame;
        yield frame;
      } else if (this.#isOver) {
        if (this.#failure !== undefined) throw this.#failure;
        return;
      } else {
        this.#news ??= Promise.withResolvers();
        await abortable(this.#news.promise, signal);
      }
    }
  }

  /** What is not held of the whole events behind the first so many. */
  async *#stored(after: number): AsyncGenerator<Frame, void, void> {
    const end = this.#dropped;
    for await (const frame of this.#readStored(after, this.#first)) {
      yield frame;
      if (frame.whole >= end) return;
    }
    throw new AppError('run_not_found', 'The events of the run are no longer kept');
  }

  #hold(frame: Frame): void {
    const size = roughSize(frame.event);
    this.#held.push({ frame, size });
    this.#resize(size);
    if (this.#size > maxBytes) this.#makeRoom();
  }

  /** Pieces of steps that are over go first, then whole events, the oldest, then pieces of this step. */
  #makeRoom(): void {
    this.#keep(({ whole, piece }) => piece === 0 || whole === this.#whole);
    if (this.#size <= maxBytes) return;
    let left = this.#size;
    for (const { frame, size } of this.#held) {
      if (left <= maxBytes / 2) break; // not one at a time
      if (frame.piece > 0) continue;
      left -= size;
      this.#dropped = frame.whole;
    }
    this.#keep(({ whole, piece }) => piece > 0 || whole > this.#dropped);
    while (this.#size > maxBytes) {
      const oldest = this.#held[0]?.frame.piece ?? 0;
      const middle = (oldest + this.#piece) / 2;
      this.#keep(({ piece }) => piece > middle);
    }
  }

  #keep(isKept: (frame: Frame) => boolean): void {
    this.#held = this.#held.filter(({ frame }) => isKept(frame));
    this.#cuts += 1;
    this.#resize(this.#held.reduce((sum, { size }) => sum + size, 0) - this.#size);
  }

  #resize(change: number): void {
    this.#size += change;
    this.#room?.resized(this, this.#size, change);
  }

  /** Where the first frame behind a place is. */
  #indexAfter(place: Position): number {
    let [low, high] = [0, this.#held.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const held = this.#held[middle];
      if (held && !isAfter(held.frame, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isAfter = (one: Position, other: Position): boolean =>
  one.whole > other.whole || (one.whole === other.whole && one.piece > other.piece);
