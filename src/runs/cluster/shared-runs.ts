import { abortable } from '../../base/abort.ts';
import { runIn } from '../../core/run-status.ts';
import type { RunStore, StoredRun } from '../../core/run-store.ts';
import type { Frame, Position, RunKey } from '../../core/runs.ts';
import type { SessionService } from '../../core/services.ts';
import type { FeedRoom } from '../../runner/queue/event-log-memory.ts';
import { isOver, type Run } from '../../schemas/run-record.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { type Follow, RunSender } from './event-relay.ts';
import type { DurableLine } from './leased-queue.ts';
import { readMessage } from './messages.ts';
import { RemoteRun } from './remote-run.ts';
import { Nudge } from './wake-signal.ts';

export interface RunLedgerOptions {
  readonly store: RunStore;
  readonly line: DurableLine;
  readonly sessions: SessionService;
  /** What the feeds of this process hold together. */
  readonly room: FeedRoom;
}

/** Pauses before a run is looked at again whose end nobody told; the last one counts for all that follow. */
const lookMs = [100, 200, 400, 1_000];

/** Who waits for the end of a run of another replica. */
interface Waiter {
  readonly nudge: Nudge;
  /** The run's key in the store, and the home that was asked to tell. */
  id?: string;
  asked?: string;
}

/** The runs of all replicas, as the store knows them. */
export class RunLedger {
  readonly #options: RunLedgerOptions;
  readonly #remote = new Map<string, RemoteRun>();
  readonly #sender: RunSender;
  readonly #waiting = new Set<Waiter>();

  /** `follow`: where the frames of the runs of this replica come from. */
  constructor(options: RunLedgerOptions, follow: Follow) {
    this.#options = options;
    this.#sender = new RunSender(options.store, follow);
    options.store.listen(
      (text) => this.#onMessage(text),
      () => this.#onBreak(),
    );
  }

  get line(): DurableLine {
    return this.#options.line;
  }

  async find(key: RunKey): Promise<Run | undefined> {
    const stored = await this.#options.store.find(key);
    return stored && this.#shown(stored);
  }

  async list(key: SessionKey, limit: number): Promise<Run[]> {
    return (await this.#options.store.list(key, limit)).map(({ run }) => run);
  }

  /** The run of an idempotency key, and the fingerprint of what was asked for with it. */
  async asked(key: SessionKey, idempotencyKey: string): Promise<StoredRun | undefined> {
    return this.#options.store.asked(key, idempotencyKey);
  }

  /** Tells a run that it shall end, wherever it is. */
  async tell(key: RunKey, reason: string): Promise<void> {
    const { store, line } = this.#options;
    const stored = await store.find(key);
    if (!stored) return;
    await store.cancel(stored.ref, reason);
    line.end(stored.ref, reason);
  }

  /** Resolves once a run is over. */
  async over(key: RunKey, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const waiter: Waiter = { nudge: new Nudge() };
    const wake = (): void => waiter.nudge.give();
    signal.addEventListener('abort', wake, { once: true });
    this.#waiting.add(waiter);
    try {
      for (let look = 0; ; look += 1) {
        const stored = await abortable(store.find(key), signal);
        if (!stored || isOver(stored.run.status)) return;
        const { home, ref } = stored;
        if (home !== undefined && home !== waiter.asked) {
          Object.assign(waiter, { id: ref.id, asked: home });
          await store.send(home, JSON.stringify({ type: 'wait', id: ref.id, from: store.home }));
        }
        await waiter.nudge.wait(lookMs[look] ?? lookMs.at(-1) ?? 0);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.#waiting.delete(waiter);
    }
  }

  follow(key: RunKey, after: Position, signal: AbortSignal): AsyncIterable<Frame> {
    const name = JSON.stringify(key);
    let remote = this.#remote.get(name);
    if (!remote) {
      remote = new RemoteRun(key, this.#options, () => this.#remote.delete(name));
      this.#remote.set(name, remote);
    }
    return remote.read(after, signal);
  }

  async close(): Promise<void> {
    this.#sender.close();
    this.#options.line.close();
    await this.#options.store.close();
  }

  /** A run that waited for answers may have got them: its events know. */
  async #shown({ run }: StoredRun): Promise<Run> {
    if (run.status !== 'waiting') return run;
    const session = await this.#options.sessions.getSession({ ...run, sessionId: run.sessionId });
    const told = session && runIn(session, run.id);
    return told ? { ...run, status: told.status, ...(told.openCalls && { openCalls: told.openCalls }) } : run;
  }

  #onMessage(text: string): void {
    const message = readMessage(text);
    if (!message) return;
    const { id } = message;
    if (message.type === 'go') this.line.find({ id })?.wake();
    else if (message.type === 'cancel') this.line.end({ id }, message.reason);
    else if (message.type === 'wait') void this.#tellEnd(id, message.from);
    else if (message.type === 'over') this.#wake(id);
    else if (message.type === 'join') this.#sender.join(id, message.from, message);
    else {
      for (const remote of this.#remote.values()) {
        if (remote.id !== id) continue;
        if (message.type === 'pieces') remote.take(message.frames);
        else remote.wake();
      }
    }
  }

  /** Tells another replica when a run is over here. */
  async #tellEnd(id: string, home: string): Promise<void> {
    await this.line.find({ id })?.over;
    await this.#options.store.send(home, JSON.stringify({ type: 'over', id })).catch(() => {}); // it looks, too
  }

  #wake(id: string): void {
    for (const waiter of this.#waiting) if (waiter.id === id) waiter.nudge.give();
  }

  /** What was missed is in the store. */
  #onBreak(): void {
    for (const remote of this.#remote.values()) remote.wake();
    for (const turn of this.line.all()) turn.wake();
  }
}
