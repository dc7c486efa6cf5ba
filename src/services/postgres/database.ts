import type { Pool, PoolClient, QueryConfig } from 'pg';
import { AppError } from '../../base/errors.ts';
import type { Dialect } from './dialect.ts';
import { asAppError } from './errors.ts';
import { migrate } from './migrate.ts';

export interface PostgresOptions {
  /** Connections at the same time. */
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  readonly queryTimeoutMs?: number;
  /** Told of connections that break while nobody uses them. */
  readonly onIdleError?: (error: Error) => void;
}

/** What runs statements: the pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends object>(
    query: QueryConfig | string,
    values?: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

interface Opened {
  readonly pool: Pool;
  readonly dialect: Dialect;
}

/** A PostgreSQL database, connected and brought up to date on first use; a failure then is tried again at the next. */
export class PostgresDatabase {
  readonly uri: string;
  readonly #options: PostgresOptions;
  #opening: Promise<Opened> | undefined;
  #pool: Promise<Pool> | undefined;
  #isClosed = false;

  constructor(uri: string, options: PostgresOptions = {}) {
    this.uri = uri;
    this.#options = options;
  }

  async dialect(): Promise<Dialect> {
    return (await this.#open()).dialect;
  }

  /** One statement of its own. Named statements are planned once for each connection. Throws `unavailable`. */
  async query<Row extends object>(query: QueryConfig | string, values?: unknown[]): Promise<Row[]> {
    const { pool } = await this.#open();
    try {
      return (await pool.query<Row & Record<string, unknown>>(query as QueryConfig, values)).rows;
    } catch (error) {
      throw asAppError(error);
    }
  }

  /** Runs `work` in one transaction: committed when it resolves, undone when it rejects. */
  async transaction<T>(work: (client: Queryable, dialect: Dialect) => Promise<T>): Promise<T> {
    const { pool, dialect } = await this.#open();
    try {
      return await inTransaction(pool, (client) => work(client, dialect));
    } catch (error) {
      throw asAppError(error);
    }
  }

  /** A connection of its own, for LISTEN and what else lasts. The caller ends it. Throws `unavailable`. */
  async connect(): Promise<PoolClient> {
    const { pool } = await this.#open();
    try {
      return await pool.connect();
    } catch (error) {
      throw asAppError(error);
    }
  }

  async check(): Promise<void> {
    await this.query('select 1');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pool = await this.#pool;
    this.#pool = undefined;
    await pool?.end();
  }

  async #open(): Promise<Opened> {
    if (this.#isClosed) throw new AppError('unavailable', 'The database is closed');
    this.#opening ??= this.#prepare();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw asAppError(error);
    }
  }

  async #prepare(): Promise<Opened> {
    this.#pool ??= this.#connectPool();
    const pool = await this.#pool;
    return { pool, dialect: await inTransaction(pool, migrate) };
  }

  /** The driver is loaded here: who keeps sessions elsewhere does not pay for it. */
  async #connectPool(): Promise<Pool> {
    const { default: pg } = await import('pg');
    const { maxConnections = 10, connectTimeoutMs = 5000, queryTimeoutMs = 30_000, onIdleError } = this.#options;
    const pool = new pg.Pool({
      connectionString: this.uri,
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      application_name: 'agent-server',
      allowExitOnIdle: false,
    });
    // Without a listener, a connection that breaks would end the process. The pool has dropped it by now.
    pool.on('error', (error) => onIdleError?.(error));
    return pool;
  }
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  // A connection that breaks between two statements says so here; the next statement fails with it.
  const onError = (error: Error): void => {
    failure = error;
  };
  client.on('error', onError);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((again: Error) => {
      failure ??= again;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(failure);
  }
}
