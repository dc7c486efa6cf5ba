import { failureOf } from '../../core/run-status.ts';
import type { RunRef, RunStore, StoredRun } from '../../core/run-store.ts';
import type { StreamedEvent, Position, RunKey } from '../../core/runs.ts';
import type { SessionService } from '../../core/services.ts';
import type { EventLogMemory } from '../../runner/queue/event-log-memory.ts';
import { RunEventLog } from '../../runner/queue/event-log.ts';
import { sessionNotFound } from '../../runner/queue/run-queue.ts';
import { type EventAnchor, storedEvents } from '../../runner/queue/stored-events.ts';
import { isOver } from '../../schemas/run-record.ts';
import { generation } from '../../schemas/session.ts';
import { subscribeMessage } from './messages.ts';
import { WakeSignal } from './wake-signal.ts';

export interface RemoteRunOptions {
  readonly store: RunStore;
  readonly sessions: SessionService;
  readonly logMemory: EventLogMemory;
}

/** How often the store is polled, in case a message got lost. */
const pollMs = 500;
/** How often the owner of the run is told that this replica still has readers. */
export const resubscribeMs = 2_000;
/** Chunks that wait for the events before them: each came in a message of a few kilobytes. */
const maxEarlyChunks = 1_000;

/**
 * Follows a run of another replica: reads its events from the store and gets its chunks by message. Polls the store for
 * as long as it has readers.
 */
export class RemoteRun {
  readonly log: RunEventLog;
  readonly #key: RunKey;
  readonly #options: RemoteRunOptions;
  #readers = 0;
  #isPolled = false;
  #hasEnded = false;
  #ref: RunRef | undefined;
  #earlyChunks: StreamedEvent[] = [];
  #last: EventAnchor | undefined;
  readonly #wakeSignal = new WakeSignal();
  #subscribedAtMs = Number.NEGATIVE_INFINITY;

  constructor(key: RunKey, options: RemoteRunOptions) {
    this.#key = key;
    this.#options = options;
    const { sessions, logMemory } = options;
    this.log = new RunEventLog((after, landmark) => storedEvents(sessions, key, after, landmark), logMemory);
  }

  /** The run's key in the store, once it is known. */
  get id(): string | undefined {
    return this.#ref?.id;
  }

  /** Whether the run is over, or its last reader has left: it is not polled any more, so nothing can join it. */
  get hasEnded(): boolean {
    return this.#hasEnded || (this.#isPolled && this.#readers === 0);
  }

  async *read(after: Position, signal: AbortSignal): AsyncGenerator<StreamedEvent, void, void> {
    this.#readers += 1;
    if (!this.#isPolled) void this.#poll(); // never rejects: a failure ends the log
    try {
      yield* this.log.read(after, signal);
    } finally {
      this.#readers -= 1;
      this.wake();
    }
  }

  /** Adds chunks that came by message. */
  receive(chunks: readonly StreamedEvent[]): void {
    const { events } = this.log.position;
    for (const chunk of chunks) {
      if (chunk.events > events) this.#earlyChunks.push(chunk);
      else this.log.appendChunk(chunk);
    }
    this.#earlyChunks = this.#earlyChunks.slice(-maxEarlyChunks);
    if (this.#earlyChunks.length > 0) this.wake();
  }

  /** Polls at once. */
  readonly wake = (): void => this.#wakeSignal.notify();

  async #poll(): Promise<void> {
    this.#isPolled = true;
    try {
      while (this.#readers > 0) {
        const stored = await this.#options.store.find(this.#key);
        if (!stored && (await this.#isSessionGone())) throw sessionNotFound(this.#key);
        this.#ref = stored?.ref;
        await this.#readStored();
        if (!stored || isOver(stored.run.status)) {
          this.log.end(stored && failureOf(stored.run));
          return;
        }
        await this.#subscribe(stored);
        await this.#wakeSignal.wait(pollMs);
      }
    } catch (error) {
      this.log.end(error);
    } finally {
      this.#hasEnded = true;
      this.log.clear();
    }
  }

  async #readStored(): Promise<void> {
    const { sessions } = this.#options;
    for await (const { event, events: number } of storedEvents(
      sessions,
      this.#key,
      this.log.position.events,
      this.#last,
    )) {
      this.log.append(event);
      this.#last = { number, eventId: event.id };
    }
    const chunks = this.#earlyChunks;
    this.#earlyChunks = [];
    this.receive(chunks);
  }

  /** Whether the run's session was deleted, though there may be another one under its key. */
  async #isSessionGone(): Promise<boolean> {
    if (!this.#ref) return false;
    const session = await this.#options.sessions.getSession(this.#key, { numRecentEvents: 1 });
    return session?.[generation] !== this.#ref.session;
  }

  async #subscribe({ ownerId, ref }: StoredRun): Promise<void> {
    const nowMs = performance.now();
    if (ownerId === undefined || nowMs - this.#subscribedAtMs < resubscribeMs) return;
    this.#subscribedAtMs = nowMs;
    const { store } = this.#options;
    await store.send(ownerId, subscribeMessage(ref.id, store.replicaId, this.log.position));
  }
}
