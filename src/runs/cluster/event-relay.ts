import { AppError } from '../../base/errors.ts';
import type { RunStore } from '../../core/run-store.ts';
import type { StreamedEvent, Position } from '../../core/runs.ts';
import type { LocalRuns } from '../local-runs.ts';
import type { LeasedRunQueue } from './leased-queue.ts';
import { chunksMessage, chunkText } from './messages.ts';
import { resubscribeMs } from './remote-run.ts';

/** How long a subscription lasts without a renewal. */
const subscriptionMs = 3 * resubscribeMs;
/** Chunks that come within this time are sent together. */
const batchMs = 10;
/** Bytes of chunks in one message: with its envelope it stays below the database's limit. */
const maxBytes = 7_000;
/** Messages that may wait for the database. */
const maxUnsent = 16;

interface Subscriber {
  readonly controller: AbortController;
  timer: NodeJS.Timeout;
}

/** Sends the events of this replica's runs to other replicas, for as long as those follow them. */
export class EventRelay {
  readonly #store: RunStore;
  readonly #queue: LeasedRunQueue;
  readonly #local: LocalRuns;
  readonly #subscribers = new Map<string, Subscriber>();

  constructor(store: RunStore, queue: LeasedRunQueue, local: LocalRuns) {
    this.#store = store;
    this.#queue = queue;
    this.#local = local;
  }

  /** A replica follows a run, by its key in the store, and has its events up to a position. */
  subscribe(id: string, replicaId: string, after: Position): void {
    const name = `${replicaId} ${id}`;
    const known = this.#subscribers.get(name);
    if (known) {
      known.timer.refresh();
      return;
    }
    const controller = new AbortController();
    const leave = (): void => controller.abort(new AppError('run_cancelled', 'Nobody follows the run any more'));
    this.#subscribers.set(name, { controller, timer: setTimeout(leave, subscriptionMs).unref() });
    this.#relay(id, replicaId, after, controller.signal)
      .catch(() => {}) // the follower polls the store as well
      .finally(() => this.#forget(name));
  }

  close(): void {
    for (const name of this.#subscribers.keys()) this.#forget(name);
  }

  #forget(name: string): void {
    const subscriber = this.#subscribers.get(name);
    clearTimeout(subscriber?.timer);
    subscriber?.controller.abort(new AppError('run_cancelled', 'The server closes'));
    this.#subscribers.delete(name);
  }

  async #relay(id: string, replicaId: string, after: Position, signal: AbortSignal): Promise<void> {
    const batch = new RelayBatch(this.#store, replicaId, id);
    const run = this.#queue.find({ id });
    try {
      if (!run) return;
      for await (const streamed of this.#local.follow({ ...run.key, runId: run.id }, after, signal)) {
        batch.add(streamed);
        if (batch.isFull) await batch.sent;
      }
    } finally {
      batch.add(undefined);
      await batch.sent;
    }
  }
}

/** Sends messages about one run to one replica, one after the other, with several chunks in each. */
class RelayBatch {
  sent: Promise<void> = Promise.resolve();
  readonly #store: RunStore;
  readonly #replicaId: string;
  readonly #id: string;
  #texts: string[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #unsent = 0;

  constructor(store: RunStore, replicaId: string, id: string) {
    this.#store = store;
    this.#replicaId = replicaId;
    this.#id = id;
  }

  /** Whether to wait for what was `sent`. */
  get isFull(): boolean {
    return this.#unsent >= maxUnsent;
  }

  /** Sends a chunk as it is; of a stored event, and of the end (`undefined`), only that there is something to read. */
  add(streamed: StreamedEvent | undefined): void {
    if (!streamed || streamed.chunks === 0) {
      this.#flush();
      this.#send(JSON.stringify({ type: 'news', id: this.#id }));
      return;
    }
    const text = chunkText(streamed);
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > maxBytes) this.#flush();
    this.#texts.push(text);
    this.#bytes += bytes;
    this.#timer ??= setTimeout(() => this.#flush(), batchMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#texts.length === 0) return;
    this.#send(chunksMessage(this.#id, this.#texts));
    this.#texts = [];
    this.#bytes = 0;
  }

  #send(message: string): void {
    this.#unsent += 1;
    this.sent = this.sent
      .then(() => this.#store.send(this.#replicaId, message))
      .catch(() => {}) // may get lost
      .finally(() => (this.#unsent -= 1));
  }
}
