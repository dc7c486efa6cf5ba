import { abortable } from '../../base/abort.ts';
import { deriveRun } from '../../core/run-status.ts';
import type { RunStore, StoredRun } from '../../core/run-store.ts';
import type { StreamedEvent, Position, RunKey } from '../../core/runs.ts';
import type { SessionService } from '../../core/services.ts';
import { isOver, type Run } from '../../schemas/run-record.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { LocalRuns } from '../local-runs.ts';
import { EventRelay } from './event-relay.ts';
import type { LeasedRunQueue } from './leased-queue.ts';
import { positionOf, readMessage } from './messages.ts';
import { RemoteRun } from './remote-run.ts';
import { WakeSignal } from './wake-signal.ts';

export interface SharedRunsOptions {
  readonly store: RunStore;
  readonly queue: LeasedRunQueue;
  readonly sessions: SessionService;
  /** The runs of this replica, which the others may follow. */
  readonly local: LocalRuns;
}

/** Pauses between two polls for the end of a run, should its notification get lost; the last one is repeated. */
const pollMs = [100, 200, 400, 1_000];

/** A client that waits for the end of a run of another replica. */
interface Waiter {
  readonly wakeSignal: WakeSignal;
  /** The run's key in the store, and the owner that was asked to notify. */
  id?: string;
  notifiedBy?: string;
}

/** Finds, cancels and follows the runs of all replicas through the database. */
export class SharedRuns {
  readonly #options: SharedRunsOptions;
  readonly #remote = new Map<string, RemoteRun>();
  readonly #relay: EventRelay;
  readonly #waiting = new Set<Waiter>();

  constructor(options: SharedRunsOptions) {
    this.#options = options;
    this.#relay = new EventRelay(options.store, options.queue, options.local);
    options.store.listen(
      (text) => this.#onMessage(text),
      () => this.#onDisconnect(),
    );
  }

  get queue(): LeasedRunQueue {
    return this.#options.queue;
  }

  async find(key: RunKey): Promise<Run | undefined> {
    const stored = await this.#options.store.find(key);
    return stored && this.#shown(stored);
  }

  async list(key: SessionKey, limit: number): Promise<Run[]> {
    return (await this.#options.store.list(key, limit)).map(({ run }) => run);
  }

  /** The run of an idempotency key, and the fingerprint of what was asked for with it. */
  async findByIdempotencyKey(key: SessionKey, idempotencyKey: string): Promise<StoredRun | undefined> {
    return this.#options.store.findByIdempotencyKey(key, idempotencyKey);
  }

  /** Asks a run to end, whichever replica owns it. */
  async cancel(key: RunKey, reason: string): Promise<void> {
    const { store, queue } = this.#options;
    const stored = await store.find(key);
    if (!stored) return;
    await store.cancel(stored.ref, reason);
    queue.endRun(stored.ref, reason);
  }

  /** Resolves once a run is over. */
  async waitForEnd(key: RunKey, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const waiter: Waiter = { wakeSignal: new WakeSignal() };
    const wake = (): void => waiter.wakeSignal.notify();
    signal.addEventListener('abort', wake, { once: true });
    this.#waiting.add(waiter);
    try {
      for (let look = 0; ; look += 1) {
        const stored = await abortable(store.find(key), signal);
        if (!stored || isOver(stored.run.status)) return;
        const { ownerId, ref } = stored;
        if (ownerId !== undefined && ownerId !== waiter.notifiedBy) {
          waiter.id = ref.id;
          waiter.notifiedBy = ownerId;
          await store.send(ownerId, JSON.stringify({ type: 'wait', id: ref.id, from: store.replicaId }));
        }
        await waiter.wakeSignal.wait(pollMs[look] ?? pollMs.at(-1) ?? 0);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.#waiting.delete(waiter);
    }
  }

  async *follow(key: RunKey, after: Position, signal: AbortSignal): AsyncGenerator<StreamedEvent, void, void> {
    const name = JSON.stringify(key);
    let remote = this.#remote.get(name);
    if (!remote || remote.hasEnded) {
      remote = new RemoteRun(key, { ...this.#options, logMemory: this.#options.local.logMemory });
      this.#remote.set(name, remote);
    }
    try {
      yield* remote.read(after, signal);
    } finally {
      if (remote.hasEnded && this.#remote.get(name) === remote) this.#remote.delete(name);
    }
  }

  async close(): Promise<void> {
    this.#relay.close();
    this.#options.queue.close();
    await this.#options.store.close();
  }

  /** A run that waited for the user may have got the answers: the events of its session show it. */
  async #shown({ run }: StoredRun): Promise<Run> {
    if (run.status !== 'waiting') return run;
    const session = await this.#options.sessions.getSession({ ...run, sessionId: run.sessionId });
    const derived = session && deriveRun(session, run.id);
    return derived
      ? { ...run, status: derived.status, ...(derived.openCalls && { openCalls: derived.openCalls }) }
      : run;
  }

  #onMessage(text: string): void {
    const message = readMessage(text);
    if (!message) return;
    const { id } = message;
    if (message.type === 'go') this.queue.find({ id })?.wake();
    else if (message.type === 'cancel') this.queue.endRun({ id }, message.reason);
    else if (message.type === 'wait') void this.#notifyEnd(id, message.from);
    else if (message.type === 'over') this.#wake(id);
    else if (message.type === 'join') this.#relay.subscribe(id, message.from, positionOf(message));
    else {
      for (const remote of this.#remote.values()) {
        if (remote.id !== id) continue;
        if (message.type === 'pieces')
          remote.receive(message.frames.map(({ event, ...position }) => ({ event, ...positionOf(position) })));
        else remote.wake();
      }
    }
  }

  /** Notifies another replica when a run is over here. */
  async #notifyEnd(id: string, replicaId: string): Promise<void> {
    await this.queue.find({ id })?.ended;
    await this.#options.store.send(replicaId, JSON.stringify({ type: 'over', id })).catch(() => {}); // it polls, too
  }

  #wake(id: string): void {
    for (const waiter of this.#waiting) if (waiter.id === id) waiter.wakeSignal.notify();
  }

  /** Messages may have been lost: everything polls now. */
  #onDisconnect(): void {
    for (const remote of this.#remote.values()) remote.wake();
    for (const lease of this.queue.all()) lease.wake();
  }
}
