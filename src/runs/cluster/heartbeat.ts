import { AppError } from '../../base/errors.ts';
import { leaseMs, type RunRef, type RunStore } from '../../core/run-store.ts';

const heartbeatMs = 1_000;
const heartbeatRetryMs = 250;
/** After this time without an answer of the database, other replicas may soon count this one as dead. */
const maxSilenceMs = leaseMs - heartbeatMs;

/** The runs that depend on the heartbeat of this replica. */
export interface LeaseHolder {
  /** Ends a run that the database wants to end, for a reason in the database's words. */
  endRun(ref: Pick<RunRef, 'id'>, reason: string): void;
  /** Ends all runs of this replica without storing their ends. */
  relinquishAll(reason: AppError): void;
}

/**
 * Renews the lease of this replica on its runs every second. Ends the runs of this replica before the lease expires, because
 * other replicas may then take them over.
 */
export class Heartbeat {
  readonly #store: Pick<RunStore, 'heartbeat'>;
  readonly #holder: LeaseHolder;
  #timer: NodeJS.Timeout | undefined;
  #sent: Promise<void> | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #stableSinceMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(store: Pick<RunStore, 'heartbeat'>, holder: LeaseHolder) {
    this.#store = store;
    this.#holder = holder;
  }

  /** Whether the other replicas count this one as alive. */
  get isAlive(): boolean {
    return this.#silenceMs < maxSilenceMs;
  }

  /** The database has answered for a whole lease: only then can this replica tell which others are dead. */
  get isStable(): boolean {
    return this.isAlive && performance.now() - this.#stableSinceMs > leaseMs;
  }

  /** The database answered the last heartbeat. */
  get isConnected(): boolean {
    return this.#stableSinceMs < Number.POSITIVE_INFINITY;
  }

  start(): void {
    if (this.#watchdog || this.#isClosed) return;
    this.#watchdog = setInterval(() => this.#checkConnection(), heartbeatMs / 2).unref();
    this.#sendAfter(0);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#watchdog);
  }

  /** Sends a heartbeat. One at a time: callers that come meanwhile wait for the same answer. */
  send(): Promise<void> {
    return (this.#sent ??= this.#send().finally(() => (this.#sent = undefined)));
  }

  get #silenceMs(): number {
    return performance.now() - this.#lastMs;
  }

  async #send(): Promise<void> {
    const sentMs = performance.now();
    try {
      const requests = await this.#store.heartbeat();
      this.#lastMs = sentMs;
      if (this.#stableSinceMs === Infinity) this.#stableSinceMs = sentMs;
      for (const { ref, reason } of requests) this.#holder.endRun(ref, reason);
    } catch (error) {
      this.#stableSinceMs = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  #sendAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.send().then(
        () => this.#sendAfter(heartbeatMs),
        () => this.#sendAfter(heartbeatRetryMs),
      );
    }, ms).unref();
  }

  #checkConnection(): void {
    if (this.#silenceMs < maxSilenceMs || this.#lastMs === -Infinity) return;
    this.#stableSinceMs = Number.POSITIVE_INFINITY;
    this.#holder.relinquishAll(new AppError('unavailable', 'The database cannot be reached', { retryAfter: 2 }));
  }
}
