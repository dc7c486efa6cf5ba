import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { Connection } from './connection.ts';
import { asAppError, isOutage } from './errors.ts';
import { type Dialect, migrate } from './migrate.ts';
import { applyWrite, type Write } from './writes.ts';

// The thread that writes to one database, so that the disk holds up nobody else. Each message is a batch of writes; a
// batch is one transaction, and its answer is sent when that is committed.

export interface WriteFailure {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly retryAfter?: number;
  /** What SQLite said, for the log. */
  readonly cause?: string;
}
export type WriteOutcome = { readonly value: unknown } | { readonly failure: WriteFailure };

const path = (workerData as { path: string }).path;
let opened: { connection: Connection; dialect: Dialect } | undefined;
/** Which file was opened first. */
let file: string | undefined;

parentPort?.on('message', (batch: readonly Write[] | 'close') => {
  if (batch === 'close') {
    forget();
    parentPort?.close();
    return;
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
  parentPort?.postMessage(perform(batch));
});

function perform(batch: readonly Write[]): WriteOutcome[] {
  if (file !== undefined && file !== fileThere()) return batch.map(() => ({ failure: failureOf(lostFile) }));
  try {
    const context = open();
    context.connection.run('begin immediate');
    const outcomes = batch.map((write) => attempt(context, write, batch.length > 1));
    if (context.connection.isInTransaction) context.connection.run('commit');
    return outcomes;
  } catch (error) {
    // Nothing of the batch is stored.
    abandon();
    return batch.map(() => ({ failure: failureOf(error) }));
  }
}

/** Performs one write: when it fails, it alone is undone. Throws when the transaction is lost. */
function attempt(
  context: { connection: Connection; dialect: Dialect },
  write: Write,
  hasCompany: boolean,
): WriteOutcome {
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

function open(): { connection: Connection; dialect: Dialect } {
  if (opened) return opened;
  const connection = new Connection(path);
  try {
    opened = { connection, dialect: migrate(connection) };
    file ??= fileThere();
    return opened;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** What is written to a file without a name is lost; and in another file, what is known of runs and sessions is wrong. */
const lostFile = new AppError(
  'unavailable',
  'The file of the database was deleted or replaced: put it back, or start the server again',
  { retryAfter: 2 },
);

function fileThere(): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}

/** After a failure of the disk, the next batch starts with a new connection. */
function abandon(): void {
  try {
    if (opened?.connection.isInTransaction) opened.connection.exec('rollback');
  } finally {
    forget();
  }
}

function forget(): void {
  try {
    opened?.connection.close();
  } finally {
    opened = undefined;
  }
}

function failureOf(thrown: unknown): WriteFailure {
  const error = asAppError(thrown);
  if (!(error instanceof AppError)) return { message: error instanceof Error ? error.message : String(error) };
  const { code, message, retryAfter } = error;
  const cause = thrown instanceof Error && thrown !== error ? thrown.message : undefined;
  return { code, message, ...(retryAfter !== undefined && { retryAfter }), ...(cause !== undefined && { cause }) };
}
