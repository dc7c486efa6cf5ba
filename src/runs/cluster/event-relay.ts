import { AppError } from '../../base/errors.ts';
import type { RunRef, RunStore } from '../../core/run-store.ts';
import type { StreamedEvent, Position } from '../../core/runs.ts';
import { chunksMessage, chunkText } from './messages.ts';
import { resubscribeMs } from './remote-run.ts';

/** Gives the frames of a run of this replica, from behind a place on. */
export type Follow = (ref: RunRef['id'], after: Position, signal: AbortSignal) => Promise<AsyncIterable<StreamedEvent>>;

/** How long somebody is told about a run after asking last. */
const subscriptionMs = 3 * resubscribeMs;
/** Pieces that come within this leave together. */
const batchMs = 10;
/** Bytes of pieces in one message: with what is around them they stay below the database's limit. */
const maxBytes = 7_000;
/** Messages that may wait for the database. */
const maxUnsent = 16;

interface Subscriber {
  readonly controller: AbortController;
  timer: NodeJS.Timeout;
}

/** Tells other replicas what the runs of this one do, as long as somebody there follows them. */
export class EventRelay {
  readonly #store: RunStore;
  readonly #follow: Follow;
  readonly #subscribers = new Map<string, Subscriber>();

  constructor(store: RunStore, follow: Follow) {
    this.#store = store;
    this.#follow = follow;
  }

  /** Somebody at a replica follows a run, and has its events up to a place. */
  subscribe(id: string, home: string, after: Position): void {
    const name = `${home} ${id}`;
    const known = this.#subscribers.get(name);
    if (known) {
      known.timer.refresh();
      return;
    }
    const controller = new AbortController();
    const leave = (): void => controller.abort(new AppError('run_cancelled', 'Nobody follows the run any more'));
    this.#subscribers.set(name, { controller, timer: setTimeout(leave, subscriptionMs).unref() });
    this.#relay(id, home, after, controller.signal)
      .catch(() => {}) // who follows looks into the store as well
      .finally(() => this.#forget(name));
  }

  close(): void {
    for (const name of this.#subscribers.keys()) this.#forget(name);
  }

  #forget(name: string): void {
    const watcher = this.#subscribers.get(name);
    clearTimeout(watcher?.timer);
    watcher?.controller.abort(new AppError('run_cancelled', 'The server closes'));
    this.#subscribers.delete(name);
  }

  async #relay(id: string, home: string, after: Position, signal: AbortSignal): Promise<void> {
    const post = new RelayBatch(this.#store, home, id);
    try {
      for await (const frame of await this.#follow(id, after, signal)) {
        post.add(frame);
        if (post.isFull) await post.sent;
      }
    } finally {
      post.add(undefined);
      await post.sent;
    }
  }
}

/** Messages about a run to one replica, one after the other. */
class RelayBatch {
  sent: Promise<void> = Promise.resolve();
  readonly #store: RunStore;
  readonly #replicaId: string;
  readonly #id: string;
  #texts: string[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #unsent = 0;

  constructor(store: RunStore, home: string, id: string) {
    this.#store = store;
    this.#replicaId = home;
    this.#id = id;
  }

  /** Whether to wait for what was `sent`. */
  get isFull(): boolean {
    return this.#unsent >= maxUnsent;
  }

  /** A piece is sent as it is; of a whole event, and of the end (`undefined`), only that there is news. */
  add(frame: StreamedEvent | undefined): void {
    if (!frame || frame.chunks === 0) {
      this.#flush();
      this.#send(JSON.stringify({ type: 'news', id: this.#id }));
      return;
    }
    const text = chunkText(frame);
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
