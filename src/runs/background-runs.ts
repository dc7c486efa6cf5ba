import type { AppError } from '../base/errors.ts';
import type { RunKey } from '../core/runs.ts';
import type { RunFeed } from '../runner/queue/event-log.ts';
import type { Run } from '../schemas/run-record.ts';
import type { SessionKey } from '../schemas/session.ts';

/** Runs that are over and still known. */
const maxOver = 1_000;
const keyLifetimeMs = 24 * 60 * 60_000;

/** What was asked for with a key: the run, and a fingerprint of the request. */
export interface Asked {
  readonly idempotencyKey: string;
  /** The same with the session it was sent to. */
  readonly key: string;
  readonly fingerprint: string;
}

/** A run that goes on without a connection. */
export class BackgroundRun {
  readonly key: RunKey;
  readonly asked: Asked | undefined;
  readonly feed: RunFeed;
  readonly createdAtMs = Date.now();
  startedAtMs: number | undefined;
  /** As it was when it came into a store, where it is kept. */
  kept: Run | undefined;
  endedAtMs: number | undefined;
  failure: unknown;
  readonly #controller = new AbortController();
  readonly #accepted = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  constructor(key: RunKey, feed: RunFeed, asked?: Asked) {
    this.key = key;
    this.feed = feed;
    this.asked = asked;
    this.#accepted.promise.catch(() => {}); // whoever asked was told, and others may not have asked
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.endedAtMs !== undefined;
  }

  /** Resolves when the run is over. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Resolves when the run has begun or waits in line; rejects with why it was refused. */
  get accepted(): Promise<void> {
    return this.#accepted.promise;
  }

  accept(refusal?: unknown): void {
    if (refusal === undefined) this.#accepted.resolve();
    else this.#accepted.reject(refusal);
  }

  cancel(reason: AppError): void {
    this.#controller.abort(reason);
  }

  end(failure: unknown): void {
    if (this.isOver) return;
    this.accept(failure);
    this.failure = failure;
    this.endedAtMs = Date.now();
    this.feed.end(failure);
    this.#over.resolve();
  }
}

/** The background runs of this process that are not over, and the last ones that are. */
export class BackgroundRuns {
  readonly #runs = new Map<string, BackgroundRun>();
  readonly #asked = new Map<string, BackgroundRun>();
  /** In the order they ended. */
  readonly #over: BackgroundRun[] = [];
  readonly #ttlMs: number;

  /** `ttlMs`: how long a run is known after its end, if there is room. */
  constructor(ttlMs = Infinity) {
    this.#ttlMs = ttlMs;
  }

  find(key: RunKey): BackgroundRun | undefined {
    this.#expire();
    return this.#runs.get(nameOf(key));
  }

  /** The run an idempotency key stands for. */
  asked(key: string): BackgroundRun | undefined {
    this.#expire();
    const run = this.#asked.get(key);
    return run && Date.now() - run.createdAtMs < keyLifetimeMs ? run : undefined;
  }

  of({ appName, userId, sessionId }: SessionKey): readonly BackgroundRun[] {
    return this.all().filter(
      ({ key }) => key.sessionId === sessionId && key.userId === userId && key.appName === appName,
    );
  }

  all(): readonly BackgroundRun[] {
    this.#expire();
    return [...this.#runs.values()];
  }

  add(run: BackgroundRun): void {
    this.#runs.set(nameOf(run.key), run);
    if (run.asked) this.#asked.set(run.asked.key, run);
  }

  /** Forgets a run, as if it had never been asked for. */
  remove(run: BackgroundRun): void {
    const name = nameOf(run.key);
    if (this.#runs.get(name) === run) this.#runs.delete(name);
    if (run.asked && this.#asked.get(run.asked.key) === run) this.#asked.delete(run.asked.key);
  }

  /** Forgets the runs of a session that is deleted; those that are not over end for whoever follows them. */
  forget(session: SessionKey, reason: AppError): void {
    for (const run of this.of(session)) {
      run.end(reason);
      this.drop(run);
    }
  }

  /** Forgets a run, and what is held of it. */
  drop(run: BackgroundRun): void {
    this.remove(run);
    run.feed.clear();
  }

  /** Keeps a run that is over for a while, and makes room for it. */
  ended(run: BackgroundRun): void {
    this.#over.push(run);
    while (this.#over.length > maxOver) this.#forgetOldest();
    this.#expire();
  }

  /** No timer: whoever comes next pays. */
  #expire(): void {
    const endedBefore = Date.now() - this.#ttlMs;
    while ((this.#over[0]?.endedAtMs ?? Infinity) < endedBefore) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const oldest = this.#over.shift();
    if (oldest) this.drop(oldest);
  }
}

const nameOf = ({ appName, userId, sessionId, runId }: RunKey): string =>
  `${appName}\n${userId}\n${sessionId}\n${runId}`;
