import type { AppError } from '../base/errors.ts';
import { keyLifetimeMs } from '../core/run-store.ts';
import type { RunKey } from '../core/runs.ts';
import type { RunEventLog } from '../runner/queue/event-log.ts';
import type { Run } from '../schemas/run-record.ts';
import type { SessionKey } from '../schemas/session.ts';

/** Ended runs that are kept. */
const maxEnded = 1_000;

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly idempotencyKey: string;
  /** The idempotency key together with the session. */
  readonly key: string;
  readonly fingerprint: string;
}

/** A run that continues when its client disconnects. */
export class BackgroundRun {
  readonly key: RunKey;
  readonly keyed: KeyedRequest | undefined;
  readonly log: RunEventLog;
  readonly createdAtMs = Date.now();
  startedAtMs: number | undefined;
  /** The run as it was persisted in the run store; absent without one. */
  persisted: Run | undefined;
  endedAtMs: number | undefined;
  failure: unknown;
  readonly #controller = new AbortController();
  readonly #accepted = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(key: RunKey, log: RunEventLog, keyed?: KeyedRequest) {
    this.key = key;
    this.log = log;
    this.keyed = keyed;
    this.#accepted.promise.catch(() => {}); // the starter gets the error; without other waiters it is no unhandled rejection
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasEnded(): boolean {
    return this.endedAtMs !== undefined;
  }

  /** Resolves when the run has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Resolves when the run has begun or is queued; rejects with the reason when it was rejected. */
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
    if (this.hasEnded) return;
    this.accept(failure);
    this.failure = failure;
    this.endedAtMs = Date.now();
    this.log.end(failure);
    this.#ended.resolve();
  }
}

/** The background runs of this process: all that have not ended, and the latest that have. */
export class BackgroundRuns {
  readonly #runs = new Map<string, BackgroundRun>();
  readonly #byIdempotencyKey = new Map<string, BackgroundRun>();
  /** In the order they ended. */
  readonly #ended: BackgroundRun[] = [];
  readonly #ttlMs: number;

  /** `ttlMs`: how long an ended run is kept, at most. */
  constructor(ttlMs = Infinity) {
    this.#ttlMs = ttlMs;
  }

  find(key: RunKey): BackgroundRun | undefined {
    this.#expire();
    return this.#runs.get(nameOf(key));
  }

  /** The run that a request with this idempotency key started. */
  findByIdempotencyKey(key: string): BackgroundRun | undefined {
    this.#expire();
    const run = this.#byIdempotencyKey.get(key);
    return run && Date.now() - run.createdAtMs < keyLifetimeMs ? run : undefined;
  }

  runsOf({ appName, userId, sessionId }: SessionKey): readonly BackgroundRun[] {
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
    if (run.keyed) this.#byIdempotencyKey.set(run.keyed.key, run);
  }

  /** Forgets a run, as if it had never been requested. */
  remove(run: BackgroundRun): void {
    const name = nameOf(run.key);
    if (this.#runs.get(name) === run) this.#runs.delete(name);
    if (run.keyed && this.#byIdempotencyKey.get(run.keyed.key) === run) this.#byIdempotencyKey.delete(run.keyed.key);
  }

  /** Forgets the runs of a deleted session; those still running end for their readers with `reason`. */
  forget(session: SessionKey, reason: AppError): void {
    for (const run of this.runsOf(session)) {
      run.end(reason);
      this.discard(run);
    }
  }

  /** Forgets a run and clears its event log. */
  discard(run: BackgroundRun): void {
    this.remove(run);
    run.log.clear();
  }

  /** Keeps an ended run for a while; drops the oldest beyond the limit. */
  retain(run: BackgroundRun): void {
    this.#ended.push(run);
    while (this.#ended.length > maxEnded) this.#forgetOldest();
    this.#expire();
  }

  /** Drops expired runs. Called on access, so there is no timer. */
  #expire(): void {
    const endedBefore = Date.now() - this.#ttlMs;
    while ((this.#ended[0]?.endedAtMs ?? Infinity) < endedBefore) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const oldest = this.#ended.shift();
    if (oldest) this.discard(oldest);
  }
}

const nameOf = ({ appName, userId, sessionId, runId }: RunKey): string =>
  `${appName}\n${userId}\n${sessionId}\n${runId}`;
