import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import type { Connection } from './connection.ts';
import { asAppError, isOutage } from './errors.ts';
import { isUnavailable, InlineWrites } from './inline-writes.ts';
import type { WriteOutcome } from './writer.ts';
import type { Write, WriteInput, WriteName, WriteOutput } from './writes.ts';

interface Waiting extends Write {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Writes per transaction. */
const maxBatch = 500;
/** How long a read-only fallback is used before opening the database is tried again. */
const fallbackMs = 2_000;

/**
 * A SQLite database. A separate thread writes; reads run in the calling thread. Writes that arrive during a transaction
 * form the next one, so that any number of them costs one disk sync. Opened on first use.
 */
export class SqliteDatabase {
  readonly path: string;
  readonly #inline: InlineWrites;
  readonly #waiting: Waiting[] = [];
  #inProgress: Waiting[] = [];
  #worker: Worker | undefined;
  #reader: Connection | undefined;
  /** When a read-only fallback has to be replaced. */
  #readerUntilMs = Number.POSITIVE_INFINITY;
  #opening: Promise<void> | undefined;
  readonly #settledWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(path: string) {
    this.path = path;
    this.#inline = new InlineWrites(path);
  }

  /** Resolves when the write is committed. Throws what the write throws, and `unavailable`. */
  write<Name extends WriteName>(name: Name, input: WriteInput<Name>): Promise<WriteOutput<Name>> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#isClosed) reject(new AppError('unavailable', 'The database is closed'));
    else this.#waiting.push({ name, input, resolve, reject });
    // Writes of the same event-loop iteration form one transaction.
    if (this.#waiting.length === 1 && this.#inProgress.length === 0) setImmediate(() => this.#send());
    return promise as Promise<WriteOutput<Name>>;
  }

  /** Runs short statements synchronously. Throws `unavailable`. */
  async read<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      return work(await this.#open());
    } catch (error) {
      if (isOutage(error)) this.#forgetReader();
      throw asAppError(error);
    }
  }

  /** Resolves when the database can be read and written. */
  async check(): Promise<void> {
    await this.read((connection) => connection.get('select 1'));
    await this.write('check', undefined);
  }

  /** Resolves when all requested writes are stored and the file is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#inProgress.length > 0 || this.#waiting.length > 0) await this.#settled();
    this.#forgetReader();
    this.#inline.end();
    const worker = this.#worker;
    if (!worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.once('exit', () => resolve());
    worker.ref();
    worker.postMessage('close'); // oxlint-disable-line unicorn/require-post-message-target-origin -- not a window
    await promise;
  }

  /** The writer opens first, because it creates the file and its tables. If it cannot write, reads may still work. */
  async #open(): Promise<Connection> {
    if (this.#isClosed) throw new AppError('unavailable', 'The database is closed');
    if (performance.now() > this.#readerUntilMs) this.#forgetReader();
    if (this.#reader) return this.#reader;
    this.#opening ??= this.#openReader().finally(() => (this.#opening = undefined));
    await this.#opening;
    if (!this.#reader) throw new AppError('unavailable', 'The database is closed');
    return this.#reader;
  }

  async #openReader(): Promise<void> {
    const outage = await this.write('check', undefined).catch(unavailable);
    // Loaded here, so that servers with other stores do not load SQLite.
    const { Connection: Opened } = await import('./connection.ts');
    const { openReadOnlyFallback } = await import('./read-only-fallback.ts');
    if (this.#isClosed) return;
    if (!outage) {
      this.#reader = new Opened(this.path, 'read');
      return;
    }
    try {
      this.#reader = openReadOnlyFallback(this.path);
      this.#readerUntilMs = performance.now() + fallbackMs;
    } catch {
      throw outage;
    }
  }

  /** Closes the read-only fallback: it may see no new data, and may keep the writer from opening the file. */
  #forgetFallback(): void {
    if (this.#readerUntilMs < Infinity) this.#forgetReader();
  }

  #forgetReader(): void {
    this.#readerUntilMs = Number.POSITIVE_INFINITY;
    try {
      this.#reader?.close();
    } finally {
      this.#reader = undefined;
    }
  }

  #send(): void {
    if (this.#inProgress.length > 0 || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, maxBatch);
    this.#inProgress = batch;
    this.#forgetFallback();
    if (batch.length > 1) this.#inline.noteConcurrentWrites();
    const [first] = batch;
    const outcome = first && batch.length === 1 && this.#inline.perform(first);
    if (outcome) this.#settle([outcome]);
    else this.#post(batch);
  }

  #post(batch: readonly Waiting[]): void {
    this.#worker ??= this.#startWorker();
    this.#worker.ref();
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
      this.#worker.postMessage(batch.map(({ name, input }) => ({ name, input })));
    } catch (error) {
      // A value cannot be sent to the thread. That is a bug, but later writes must not be blocked.
      this.#settle(batch.map(() => ({ failure: { message: String(error) } })));
    }
  }

  #startWorker(): Worker {
    const file = `./writer-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
    const worker = new Worker(new URL(file, import.meta.url), { workerData: { path: this.path }, execArgv: [] });
    worker.on('message', (outcomes: WriteOutcome[]) => this.#onOutcomes(outcomes));
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', () => this.#fail(worker, undefined));
    return worker;
  }

  #onOutcomes(outcomes: readonly WriteOutcome[]): void {
    if (this.#waiting.length > 0) this.#inline.noteConcurrentWrites();
    if (outcomes.some((outcome) => isUnavailable(outcome))) this.#inline.close();
    else void this.#inline.open();
    this.#settle(outcomes);
  }

  #settle(outcomes: readonly WriteOutcome[]): void {
    const done = this.#inProgress;
    this.#inProgress = [];
    if (outcomes.some((outcome) => 'value' in outcome)) this.#forgetFallback();
    this.#send();
    // An idle writer does not keep the process alive.
    if (this.#inProgress.length === 0) this.#worker?.unref();
    for (const [index, { resolve, reject }] of done.entries()) {
      const outcome = outcomes[index];
      if (outcome && 'value' in outcome) resolve(outcome.value);
      else reject(errorOf(outcome));
    }
    this.#resolveSettled();
  }

  /** Handles the end of a writer during a batch: it is unknown whether the batch was stored. The next write starts a new writer. */
  #fail(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const lost = this.#inProgress.splice(0);
    for (const { reject } of lost) {
      reject(new AppError('unavailable', 'The writer of the database ended', { cause, retryAfter: 2 }));
    }
    this.#send();
    this.#resolveSettled();
  }

  /** Resolves when a batch has succeeded or failed. */
  #settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settledWaiters.push(resolve);
    return promise;
  }

  #resolveSettled(): void {
    for (const tell of this.#settledWaiters.splice(0)) tell();
  }
}

/** Returns the error if it is a failure of the disk; throws any other. */
function unavailable(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'unavailable') return error;
  throw error;
}

function errorOf(outcome: WriteOutcome | undefined): Error {
  if (!outcome || !('failure' in outcome)) return new AppError('internal', 'The writer of the database gave no answer');
  const { code, message, retryAfter, cause } = outcome.failure;
  const options = {
    ...(cause !== undefined && { cause: new Error(cause) }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
  return code === undefined ? new Error(message, options) : new AppError(code, message, options);
}
