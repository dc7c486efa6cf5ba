import { abortable } from '../base/abort.ts';
import type { Frame, Position } from '../core/runs.ts';
import type { Event } from '../schemas/event.ts';

/** What a feed may hold of pieces, roughly in bytes. */
const maxPieces = 4 * 1024 * 1024;
/** What an event weighs besides what it says. */
const eventWeight = 256;

export const start: Position = { whole: 0, piece: 0 };

/**
 * The events of a run for whoever comes late: whole events stay, pieces as long as there is room. One writer, any
 * number of readers, each at its own pace; none of them holds up the writer.
 */
export class RunFeed {
  #frames: Frame[] = [];
  #whole = 0;
  #piece = 0;
  #weight = 0;
  /** Counts the times frames were dropped: places in the list are void then. */
  #cuts = 0;
  #isOver = false;
  #failure: unknown;
  #news: PromiseWithResolvers<void> | undefined;

  /** `events`: what the run has stored before anybody listened. */
  constructor(events: Iterable<Event> = []) {
    for (const event of events) this.put(event);
  }

  /** Where the feed ends for now. */
  get position(): Position {
    return { whole: this.#whole, piece: this.#piece };
  }

  /** Roughly the bytes that the pieces take. */
  get weight(): number {
    return this.#weight;
  }

  /** `isPiece`: the event is shown and not stored. */
  put(event: Event, isPiece = event.partial === true): void {
    if (isPiece) this.#putPiece(event);
    else this.#putWhole(event);
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

  /** Lets go of the pieces of steps that are over. */
  dropPieces(): void {
    this.#keep(({ piece, whole }) => piece === 0 || whole === this.#whole);
  }

  /** The frames behind a place, then those to come. Throws what ended the run. */
  async *read(after: Position, signal: AbortSignal): AsyncGenerator<Frame, void, void> {
    let last = after;
    let index = this.#indexAfter(last);
    let cuts = this.#cuts;
    for (;;) {
      if (cuts !== this.#cuts) {
        cuts = this.#cuts;
        index = this.#indexAfter(last);
      }
      const frame = this.#frames[index];
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

  #putWhole(event: Event): void {
    // A reader that joins may have found it in the session already.
    if (this.#piece === 0 && this.#frames.at(-1)?.event === event) return;
    this.#whole += 1;
    this.#piece = 0;
    this.#frames.push({ event, whole: this.#whole, piece: 0 });
  }

  #putPiece(event: Event): void {
    this.#piece += 1;
    this.#frames.push({ event, whole: this.#whole, piece: this.#piece });
    this.#weight += weightOf(event);
    if (this.#weight <= maxPieces) return;
    this.dropPieces();
    while (this.#weight > maxPieces) {
      const oldest = this.#frames.find(({ piece }) => piece > 0)?.piece ?? 0;
      const middle = (oldest + this.#piece) / 2;
      this.#keep(({ piece }) => piece === 0 || piece > middle);
    }
  }

  #keep(isKept: (frame: Frame) => boolean): void {
    this.#frames = this.#frames.filter(isKept);
    this.#weight = this.#frames.reduce((sum, { event, piece }) => sum + (piece === 0 ? 0 : weightOf(event)), 0);
    this.#cuts += 1;
  }

  /** Where the first frame behind a place is. */
  #indexAfter(place: Position): number {
    let [low, high] = [0, this.#frames.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const frame = this.#frames[middle];
      if (frame && !isAfter(frame, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isAfter = (one: Position, other: Position): boolean =>
  one.whole > other.whole || (one.whole === other.whole && one.piece > other.piece);

function weightOf({ content }: Event): number {
  let weight = eventWeight;
  for (const { text, inlineData } of content?.parts ?? []) {
    weight += (text?.length ?? 0) + (inlineData?.data?.length ?? 0);
  }
  return weight;
}
