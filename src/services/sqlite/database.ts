import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import type { Connection } from './connection.ts';
import { asAppError, isOutage } from './errors.ts';
import { isUnavailable, LoneWrites } from './lone-writes.ts';
import type { WriteOutcome } from './writer.ts';
import type { Write, WriteInput, WriteName, WriteOutput } from './writes.ts';

interface Waiting extends Write {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Writes of one transaction. */
const maxBatch = 500;
/** How long a database that cannot be written is read before it is tried again. */
const stopgapMs = 2_000;

/**
 * A SQLite database: a thread of its own writes, readers read where they are. While a transaction is under way, the
 * writes that come gather for the next one, so that any number of them costs one sync of the disk. Opened on first use.
 */
export class SqliteDatabase {
  readonly path: string;
  readonly #lone: LoneWrites;
  readonly #waiting: Waiting[] = [];
  #underWay: Waiting[] = [];
  #worker: Worker | undefined;
  #reader: Connection | undefined;
  /** When a reader of a database that could not be written is to be replaced. */
  #readerUntilMs = Number.POSITIVE_INFINITY;
  #opening: Promise<void> | undefined;
  readonly #settledWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(path: string) {
    this.path = path;
    this.#lone = new LoneWrites(path);
  }

  /** Resolves when the write is committed. Throws what the write throws, and `unavailable`. */
  write<Name extends WriteName>(name: Name, input: WriteInput<Name>): Promise<WriteOutput<Name>> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#isClosed) reject(new AppError('unavailable', 'The database is closed'));
    else this.#waiting.push({ name, input, resolve, reject });
    // What is asked for in the same turn goes together.
    if (this.#waiting.length === 1 && this.#underWay.length === 0) setImmediate(() => this.#send());
    return promise as Promise<WriteOutput<Name>>;
  }

  /** Runs short statements, synchronously. Throws `unavailable`. */
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

  /** Resolves when everything that was asked for is stored and the file is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#underWay.length > 0 || this.#waiting.length > 0) await this.#settled();
    this.#forgetReader();
    this.#lone.end();
    const worker = this.#worker;
    if (!worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.once('exit', () => resolve());
    worker.ref();
    worker.postMessage('close'); // oxlint-disable-line unicorn/require-post-message-target-origin -- not a window
    await promise;
  }

  /** The writer goes first: it makes the file and its tables. What it cannot write may still be read. */
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
    // Loaded here: who keeps sessions elsewhere does not load SQLite.
    const { Connection: Opened } = await import('./connection.ts');
    const { openUnwritable } = await import('./stopgap.ts');
    if (this.#isClosed) return;
    if (!outage) {
      this.#reader = new Opened(this.path, 'read');
      return;
    }
    try {
      this.#reader = openUnwritable(this.path);
      this.#readerUntilMs = performance.now() + stopgapMs;
    } catch {
      throw outage;
    }
  }

  /** It may see nothing new, and keep the writer from opening the file otherwise. */
  #forgetStopgap(): void {
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
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, maxBatch);
    this.#underWay = batch;
    this.#forgetStopgap();
    if (batch.length > 1) this.#lone.noteCrowd();
    const [first] = batch;
    const outcome = first && batch.length === 1 && this.#lone.perform(first);
    if (outcome) this.#settle([outcome]);
    else this.#handOver(batch);
  }

  #handOver(batch: readonly Waiting[]): void {
    this.#worker ??= this.#startWorker();
    this.#worker.ref();
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
      this.#worker.postMessage(batch.map(({ name, input }) => ({ name, input })));
    } catch (error) {
      // Something in it cannot be handed over: that is a bug, but must not hold up what comes next.
      this.#settle(batch.map(() => ({ failure: { message: String(error) } })));
    }
  }

  #startWorker(): Worker {
    const file = `./writer-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
    const worker = new Worker(new URL(file, import.meta.url), { workerData: { path: this.path }, execArgv: [] });
    worker.on('message', (outcomes: WriteOutcome[]) => this.#noteHandedOver(outcomes));
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', () => this.#fail(worker, undefined));
    return worker;
  }

  #noteHandedOver(outcomes: readonly WriteOutcome[]): void {
    if (this.#waiting.length > 0) this.#lone.noteCrowd();
    if (outcomes.some((outcome) => isUnavailable(outcome))) this.#lone.close();
    else void this.#lone.open();
    this.#settle(outcomes);
  }

  #settle(outcomes: readonly WriteOutcome[]): void {
    const done = this.#underWay;
    this.#underWay = [];
    if (outcomes.some((outcome) => 'value' in outcome)) this.#forgetStopgap();
    this.#send();
    // An idle writer keeps no process alive.
    if (this.#underWay.length === 0) this.#worker?.unref();
    for (const [index, { resolve, reject }] of done.entries()) {
      const outcome = outcomes[index];
      if (outcome && 'value' in outcome) resolve(outcome.value);
      else reject(errorOf(outcome));
    }
    this.#tellSettled();
  }

  /** A writer that ended in the middle of a batch: whether that was stored, nobody knows. The next write starts another. */
  #fail(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const lost = this.#underWay.splice(0);
    for (const { reject } of lost) {
      reject(new AppError('unavailable', 'The writer of the database ended', { cause, retryAfter: 2 }));
    }
    this.#send();
    this.#tellSettled();
  }

  /** Resolves when a batch is done, for better or worse. */
  #settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settledWaiters.push(resolve);
    return promise;
  }

  #tellSettled(): void {
    for (const tell of this.#settledWaiters.splice(0)) tell();
  }
}

/** Gives the error if the disk is to blame, and throws any other. */
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
