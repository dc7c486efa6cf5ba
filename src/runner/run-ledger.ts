import { abortable, delay } from '../base/abort.ts';
import type { RunStore, StoredRun } from '../core/run-store.ts';
import type { Frame, Position, RunKey } from '../core/runs.ts';
import type { SessionService } from '../core/services.ts';
import { isOver, type Run } from '../schemas/run-record.ts';
import type { SessionKey } from '../schemas/session.ts';
import type { DurableLine } from './durable-line.ts';
import { RemoteRun } from './remote-run.ts';
import { readMessage } from './run-messages.ts';
import { type Follow, RunSender } from './run-sender.ts';
import { runIn } from './run-status.ts';

export interface RunLedgerOptions {
  readonly store: RunStore;
  readonly line: DurableLine;
  readonly sessions: SessionService;
}

/** Pauses before a run that shall end is looked at again; the last one counts for all that follow. */
const lookMs = [10, 20, 40, 80, 150, 300, 600, 1_000];

/** The runs of all replicas, as the store knows them. */
export class RunLedger {
  readonly #options: RunLedgerOptions;
  readonly #remote = new Map<string, RemoteRun>();
  readonly #sender: RunSender;

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
    const home = stored && (await store.cancel(stored.ref, reason));
    if (stored && home !== undefined) await line.end(stored.ref, home, reason);
  }

  /** Resolves once a run is over. */
  async over(key: RunKey, signal: AbortSignal): Promise<void> {
    for (let look = 0; ; look += 1) {
      const stored = await abortable(this.#options.store.find(key), signal);
      if (!stored || isOver(stored.run.status)) return;
      await delay(lookMs[look] ?? lookMs.at(-1) ?? 0, signal);
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
    else if (message.type === 'cancel') void this.line.end({ id }, this.#options.store.home, message.reason);
    else if (message.type === 'join') this.#sender.join(id, message.from, message);
    else {
      for (const remote of this.#remote.values()) {
        if (remote.id !== id) continue;
        if (message.type === 'pieces') remote.take(message.frames);
        else remote.wake();
      }
    }
  }

  /** What was missed is in the store. */
  #onBreak(): void {
    for (const remote of this.#remote.values()) remote.wake();
    for (const turn of this.line.all()) turn.wake();
  }
}
