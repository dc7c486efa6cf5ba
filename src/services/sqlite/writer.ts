import { statSync } from 'node:fs';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { Connection } from './connection.ts';
import { dialectOf } from './dialect.ts';
import type { WriteContext } from './dialect.ts';
import { asAppError, isOutage } from './errors.ts';
import { migrate } from './migrate.ts';
import { applyWrite, type Write } from './writes.ts';

export interface WriteFailure {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly retryAfter?: number;
  /** What SQLite said, for the log. */
  readonly cause?: string;
}
export type WriteOutcome = { readonly value: unknown } | { readonly failure: WriteFailure };

/** Writes to a database file that it opens first, and anew after each failure of the disk. */
export class Writer {
  readonly #path: string;
  #opened: WriteContext | undefined;
  /** Which file was opened first. */
  #file: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Does all of it in one transaction, for which it waits; returns when that is committed. */
  perform(batch: readonly Write[]): WriteOutcome[] {
    if (this.#isFileLost()) return batch.map(() => ({ failure: failureOf(lostFile) }));
    try {
      this.#opened ??= openUpToDate(this.#path);
      this.#file ??= fileAt(this.#path);
      this.#opened.connection.run('begin immediate');
      return complete(this.#opened, batch);
    } catch (error) {
      // Nothing of the batch is stored.
      this.#abandon();
      return batch.map(() => ({ failure: failureOf(error) }));
    }
  }

  /** Gets ready for writes that are done at once or not at all; says whether it could. The tables have to be up to date. */
  openForMoments(): boolean {
    try {
      const connection = new Connection(this.#path, 'moments');
      this.#opened = { connection, dialect: dialectOf(connection) };
      this.#file = fileAt(this.#path);
      return true;
    } catch {
      return false;
    }
  }

  /** Does it if that is possible at once: not when another program is writing, for one. */
  performAtOnce(write: Write): WriteOutcome | undefined {
    const opened = this.#opened;
    if (!opened || this.#isFileLost()) return undefined;
    try {
      opened.connection.run('begin immediate');
    } catch {
      return undefined;
    }
    try {
      return complete(opened, [write])[0];
    } catch (error) {
      this.#abandon();
      return { failure: failureOf(error) };
    }
  }

  close(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    opened?.connection.close();
  }

  #isFileLost(): boolean {
    return this.#file !== undefined && this.#file !== fileAt(this.#path);
  }

  #abandon(): void {
    try {
      if (this.#opened?.connection.isInTransaction) this.#opened.connection.exec('rollback');
    } finally {
      this.close();
    }
  }
}

/** What is written to a file without a name is lost; and in another file, what is known of runs and sessions is wrong. */
const lostFile = new AppError(
  'unavailable',
  'The file of the database was deleted or replaced: put it back, or start the server again',
  { retryAfter: 2 },
);

function fileAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}

function openUpToDate(path: string): WriteContext {
  const connection = new Connection(path);
  try {
    return { connection, dialect: migrate(connection) };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function complete(context: WriteContext, batch: readonly Write[]): WriteOutcome[] {
  const outcomes = batch.map((write) => attempt(context, write, batch.length > 1));
  if (context.connection.isInTransaction) context.connection.run('commit');
  return outcomes;
}

/** Performs one write: when it fails, it alone is undone. Throws when the transaction is lost. */
function attempt(context: WriteContext, write: Write, hasCompany: boolean): WriteOutcome {
  const { connection } = context;
  if (hasCompany) connection.run('savepoint one');
  try {
    const value = applyWrite(context, write);
    if (hasCompany) connection.run('release one');
    return { value };
  } catch (error) {
    if (isOutage(error) || !connection.isInTransaction) throw error;
    if (!hasCompany) connection.run('rollback');
    else connection.exec('rollback to one; release one');
    return { failure: failureOf(error) };
  }
}

function failureOf(thrown: unknown): WriteFailure {
  const error = asAppError(thrown);
  if (!(error instanceof AppError)) return { message: error instanceof Error ? error.message : String(error) };
  const { code, message, retryAfter } = error;
  const cause = thrown instanceof Error && thrown !== error ? thrown.message : undefined;
  return { code, message, ...(retryAfter !== undefined && { retryAfter }), ...(cause !== undefined && { cause }) };
}
