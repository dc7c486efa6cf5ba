import { AppError } from '../../base/errors.ts';
import type { RunRef, RunStore } from '../../core/run-store.ts';
import type { Frame, Position } from '../../core/runs.ts';
import { joinEveryMs } from './remote-run.ts';

/** Gives the frames of a run of this replica, from behind a place on. */
export type Follow = (ref: RunRef['id'], after: Position, signal: AbortSignal) => Promise<AsyncIterable<Frame>>;

/** How long somebody is told about a run after asking last. */
const patienceMs = 3 * joinEveryMs;
/** Pieces that come within this leave together. */
const gatherMs = 10;
/** Bytes of pieces in one message: with what is around them they stay below the database's limit. */
const maxBytes = 7_000;
/** Messages that may wait for the database. */
const maxUnsent = 16;

interface Watcher {
  readonly controller: AbortController;
  timer: NodeJS.Timeout;
}

/** Tells other replicas what the runs of this one do, as long as somebody there follows them. */
export class RunSender {
  readonly #store: RunStore;
  readonly #follow: Follow;
  readonly #watchers = new Map<string, Watcher>();

  constructor(store: RunStore, follow: Follow) {
    this.#store = store;
    this.#follow = follow;
  }

  /** Somebody at a replica follows a run, and has its events up to a place. */
  join(id: string, home: string, after: Position): void {
    const name = `${home} ${id}`;
    const known = this.#watchers.get(name);
    if (known) {
      known.timer.refresh();
      return;
    }
    const controller = new AbortController();
    const leave = (): void => controller.abort(new AppError('run_cancelled', 'Nobody follows the run any more'));
    this.#watchers.set(name, { controller, timer: setTimeout(leave, patienceMs).unref() });
    this.#tell(id, home, after, controller.signal)
      .catch(() => {}) // who follows looks into the store as well
      .finally(() => this.#forget(name));
  }

  close(): void {
    for (const name of this.#watchers.keys()) this.#forget(name);
  }

  #forget(name: string): void {
    const watcher = this.#watchers.get(name);
    clearTimeout(watcher?.timer);
    watcher?.controller.abort(new AppError('run_cancelled', 'The server closes'));
    this.#watchers.delete(name);
  }

  async #tell(id: string, home: string, after: Position, signal: AbortSignal): Promise<void> {
    const post = new Post(this.#store, home, id);
    try {
      for await (const frame of await this.#follow(id, after, signal)) {
        post.add(frame);
        if (post.isBehind) await post.sent;
      }
    } finally {
      post.add(undefined);
      await post.sent;
    }
  }
}

/** Messages about a run to one replica, one after the other. */
class Post {
  sent: Promise<void> = Promise.resolve();
  readonly #store: RunStore;
  readonly #home: string;
  readonly #id: string;
  #texts: string[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #unsent = 0;

  constructor(store: RunStore, home: string, id: string) {
    this.#store = store;
    this.#home = home;
    this.#id = id;
  }

  /** Whether to wait for what was `sent`. */
  get isBehind(): boolean {
    return this.#unsent >= maxUnsent;
  }

  /** A piece is sent as it is; of a whole event, and of the end (`undefined`), only that there is news. */
  add(frame: Frame | undefined): void {
    if (!frame || frame.piece === 0) {
      this.#flush();
      this.#send(JSON.stringify({ type: 'news', id: this.#id }));
      return;
    }
    const text = JSON.stringify(frame);
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > maxBytes) this.#flush();
    this.#texts.push(text);
    this.#bytes += bytes;
    this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#texts.length === 0) return;
    this.#send(`{"type":"pieces","id":${JSON.stringify(this.#id)},"frames":[${this.#texts.join(',')}]}`);
    this.#texts = [];
    this.#bytes = 0;
  }

  #send(message: string): void {
    this.#unsent += 1;
    this.sent = this.sent
      .then(() => this.#store.send(this.#home, message))
      .catch(() => {}) // may get lost
      .finally(() => (this.#unsent -= 1));
  }
}
