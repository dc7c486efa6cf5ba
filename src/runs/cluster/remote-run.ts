import { failureOf } from '../../core/run-status.ts';
import type { RunRef, RunStore, StoredRun } from '../../core/run-store.ts';
import type { Frame, Position, RunKey } from '../../core/runs.ts';
import type { SessionService } from '../../core/services.ts';
import type { FeedRoom } from '../../runner/queue/event-log-memory.ts';
import { RunFeed } from '../../runner/queue/event-log.ts';
import { sessionGone } from '../../runner/queue/run-queue.ts';
import { type Landmark, storedFrames } from '../../runner/queue/stored-events.ts';
import { isOver } from '../../schemas/run-record.ts';
import { generation } from '../../schemas/session.ts';
import { Nudge } from './wake-signal.ts';

export interface RemoteOptions {
  readonly store: RunStore;
  readonly sessions: SessionService;
  readonly room: FeedRoom;
}

/** How often the store is asked for what no message told. */
const lookMs = 500;
/** How often the replica that has the run is told that somebody follows it. */
export const joinEveryMs = 2_000;
/** Pieces that wait for the whole events before them: each came in a message of a few kilobytes. */
const maxEarly = 1_000;

/**
 * A run of another replica, as it is followed here: whole events are read from the store, pieces come by message. It is
 * looked at for as long as it has readers.
 */
export class RemoteRun {
  readonly feed: RunFeed;
  readonly #key: RunKey;
  readonly #options: RemoteOptions;
  readonly #onIdle: () => void;
  #readers = 0;
  #isWatched = false;
  #ref: RunRef | undefined;
  #early: Frame[] = [];
  #last: Landmark | undefined;
  readonly #nudge = new Nudge();
  #joinedAtMs = Number.NEGATIVE_INFINITY;

  constructor(key: RunKey, options: RemoteOptions, onIdle: () => void) {
    this.#key = key;
    this.#options = options;
    this.#onIdle = onIdle;
    const { sessions, room } = options;
    this.feed = new RunFeed((after, landmark) => storedFrames(sessions, key, after, landmark), room);
  }

  /** The run's key in the store, once it is known. */
  get id(): string | undefined {
    return this.#ref?.id;
  }

  async *read(after: Position, signal: AbortSignal): AsyncGenerator<Frame, void, void> {
    this.#readers += 1;
    if (!this.#isWatched) void this.#watch(); // tells the feed of its failure
    try {
      yield* this.feed.read(after, signal);
    } finally {
      this.#readers -= 1;
      this.wake();
    }
  }

  /** Takes pieces that came by message. */
  take(frames: readonly Frame[]): void {
    const { whole } = this.feed.position;
    for (const frame of frames) {
      if (frame.whole > whole) this.#early.push(frame);
      else this.feed.putPiece(frame);
    }
    this.#early = this.#early.slice(-maxEarly);
    if (this.#early.length > 0) this.wake();
  }

  /** There is something to look at. */
  readonly wake = (): void => this.#nudge.give();

  async #watch(): Promise<void> {
    this.#isWatched = true;
    try {
      while (this.#readers > 0) {
        const stored = await this.#options.store.find(this.#key);
        if (!stored && (await this.#isSessionGone())) throw sessionGone(this.#key);
        this.#ref = stored?.ref;
        await this.#readStored();
        if (!stored || isOver(stored.run.status)) {
          this.feed.end(stored && failureOf(stored.run));
          return;
        }
        await this.#join(stored);
        await this.#nudge.wait(lookMs);
      }
    } catch (error) {
      this.feed.end(error);
    } finally {
      this.#isWatched = false;
      this.feed.clear();
      this.#onIdle();
    }
  }

  async #readStored(): Promise<void> {
    const { sessions } = this.#options;
    for await (const { event, whole } of storedFrames(sessions, this.#key, this.feed.position.whole, this.#last)) {
      this.feed.put(event);
      this.#last = { whole, eventId: event.id };
    }
    const early = this.#early;
    this.#early = [];
    this.take(early);
  }

  /** Whether the run's session was deleted, though there may be another one under its key. */
  async #isSessionGone(): Promise<boolean> {
    if (!this.#ref) return false;
    const session = await this.#options.sessions.getSession(this.#key, { numRecentEvents: 1 });
    return session?.[generation] !== this.#ref.session;
  }

  async #join({ home, ref }: StoredRun): Promise<void> {
    const nowMs = performance.now();
    if (home === undefined || nowMs - this.#joinedAtMs < joinEveryMs) return;
    this.#joinedAtMs = nowMs;
    const { store } = this.#options;
    await store.send(home, JSON.stringify({ type: 'join', id: ref.id, from: store.home, ...this.feed.position }));
  }
}
