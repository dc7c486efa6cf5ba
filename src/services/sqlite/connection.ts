import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isBusy } from './errors.ts';

/**
 * `write`: waits for other writers, and does the checkpoints of the log (WAL).
 * `inline`: writes, too, but neither waits nor does checkpoints.
 * `read`: reads in the event loop, so it waits only briefly.
 * `immutable`: reads the file without its log and its shared-memory file. No program may write to it meanwhile.
 */
export type Access = 'write' | 'inline' | 'read' | 'immutable';

/** How long to wait for another program, in milliseconds, and the page cache in kilobytes. */
const bounds: Readonly<Record<Access, { timeout: number; cache: number }>> = {
  write: { timeout: 5000, cache: 16_000 },
  inline: { timeout: 0, cache: 4000 },
  read: { timeout: 250, cache: 16_000 },
  immutable: { timeout: 250, cache: 16_000 },
};

/** Milliseconds between two attempts. */
const pauseMs = 10;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** A connection that prepares each statement once. It is synchronous, like SQLite itself. */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Creates the folder of a writable file. */
  constructor(path: string, access: Access = 'write') {
    const readOnly = access === 'read' || access === 'immutable';
    const { timeout, cache } = bounds[access];
    if (!readOnly) mkdirSync(dirname(path), { recursive: true });
    const place = access === 'immutable' ? immutable(path) : path;
    this.#database = new DatabaseSync(place, { readOnly, timeout });
    // Commits are durable: WAL with FULL syncs the log at each commit. Checkpoints run every 32 MB instead of every 4, because
    // appends change the same few pages again and again.
    if (!readOnly) {
      this.#keepLog(timeout);
      this.exec('pragma synchronous = full');
      this.exec(`pragma wal_autocheckpoint = ${access === 'write' ? 8000 : 0}`);
      this.exec('pragma journal_size_limit = 67108864');
    }
    this.exec(`pragma cache_size = -${cache}`);
  }

  /**
   * Enables the log (WAL). With retries, because SQLite fails at once when another program does the same to a new file: two
   * readers that both want to write would deadlock.
   */
  #keepLog(timeoutMs: number): void {
    const giveUpAt = performance.now() + timeoutMs;
    for (;;) {
      try {
        this.exec('pragma journal_mode = wal');
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
        Atomics.wait(pause, 0, 0, pauseMs);
      }
    }
  }

  /** Statements without values or results. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  all<Row extends object>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** Iterates over the rows; rows after the last consumed one are not read. */
  each<Row extends object>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepared(sql).iterate(...values) as Iterable<Row>;
  }

  get<Row extends object>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  /** Runs a statement. Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  close(): void {
    this.#database.close();
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

const immutable = (path: string): URL => new URL('?immutable=1', pathToFileURL(path));
