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
  /** SQLite's message, for the log. */
  readonly cause?: string;
}
export type WriteOutcome = { readonly value: unknown } | { readonly failure: WriteFailure };

/** Writes to a database file. Opens it on first use, and again after each failure of the disk. */
export class Writer {
  readonly #path: string;
  #opened: WriteContext | undefined;
  /** The identity of the file that was opened first. */
  #file: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Runs a batch in one transaction, for whose lock it waits. Returns after the commit. */
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

  /** Opens the file for `performAtOnce`. Returns whether it succeeded. The tables have to be migrated. */
  openForInlineWrites(): boolean {
    try {
      const connection = new Connection(this.#path, 'inline');
      this.#opened = { connection, dialect: dialectOf(connection) };
      this.#file = fileAt(this.#path);
      return true;
    } catch {
      return false;
    }
  }

  /** Runs a write if that is possible without waiting. Returns `undefined` if not, such as while another program writes. */
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

/** Writes to a deleted file would be lost; and for a new file, the cached runs and sessions would be wrong. */
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

/** Performs one write. If it fails, only this write is rolled back. Throws when the whole transaction is lost. */
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
