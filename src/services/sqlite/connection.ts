import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isBusy } from './errors.ts';

/**
 * `write`: waits for another program that writes, and brings what the log holds into the file now and then.
 * `moments`: writes, too, but leaves both to others.
 * `read`: waits, among other work, for no longer than that allows.
 * `alone`: reads the file as it is, without its log and without the files through which the users of a log find each
 * other. Nobody may write to it meanwhile.
 */
export type Access = 'write' | 'moments' | 'read' | 'alone';

/** Milliseconds another program may hold the database before we give up, and kilobytes of pages kept in memory. */
const bounds: Readonly<Record<Access, { timeout: number; cache: number }>> = {
  write: { timeout: 5000, cache: 16_000 },
  moments: { timeout: 0, cache: 4000 },
  read: { timeout: 250, cache: 16_000 },
  alone: { timeout: 250, cache: 16_000 },
};

/** Milliseconds between two tries. */
const pauseMs = 10;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** A connection that prepares each statement once. It is synchronous, like SQLite itself. */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Makes the folder of a file that is to be written. */
  constructor(path: string, access: Access = 'write') {
    const readOnly = access === 'read' || access === 'alone';
    const { timeout, cache } = bounds[access];
    if (!readOnly) mkdirSync(dirname(path), { recursive: true });
    const place = access === 'alone' ? immutable(path) : path;
    this.#database = new DatabaseSync(place, { readOnly, timeout });
    // Committed is durable: WAL with FULL syncs the log at each commit. What the log holds is brought into the file every
    // 32 MB rather than every 4: an append touches the same few pages again and again.
    if (!readOnly) {
      this.#keepLog(timeout);
      this.exec('pragma synchronous = full');
      this.exec(`pragma wal_autocheckpoint = ${access === 'write' ? 8000 : 0}`);
      this.exec('pragma journal_size_limit = 67108864');
    }
    this.exec(`pragma cache_size = -${cache}`);
  }

  /**
   * Has changes kept in a log. SQLite does not wait for another program that does the same with a new file at the same
   * moment: two that read and both want to write would wait for each other.
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

  /** The rows one by one: those behind the last one that is taken are not read. */
  each<Row extends object>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepared(sql).iterate(...values) as Iterable<Row>;
  }

  get<Row extends object>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  /** Runs a statement; resolves to the number of rows it changed. */
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
