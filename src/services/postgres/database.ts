import type { ClientConfig, Pool, PoolClient, QueryConfig } from 'pg';
import { AppError } from '../../base/errors.ts';
import type { Dialect } from './dialect.ts';
import { asAppError } from './errors.ts';
import { migrate } from './migrate.ts';
import { answerMs, Reachability } from './reachability.ts';

/** How long connecting is retried, while the database counts as reachable. */
const connectRetryMs = 10_000;

export interface PostgresOptions {
  /** Connections at the same time. */
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  /** How long a statement may wait for a free connection. */
  readonly waitTimeoutMs?: number;
  readonly queryTimeoutMs?: number;
  /** Called when an idle connection breaks. */
  readonly onIdleError?: (error: Error) => void;
}

/** Runs statements: the pool, or the connection of a transaction. */
export interface Queryable {
  query<Row extends object>(
    query: QueryConfig | string,
    values?: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

interface Connected {
  readonly pool: Pool;
  readonly reachability: Reachability;
}

interface Opened extends Connected {
  readonly dialect: Dialect;
}

/** A PostgreSQL database. Connects and migrates on first use; the next use retries after a failure. */
export class PostgresDatabase {
  readonly uri: string;
  readonly #options: PostgresOptions;
  #opening: Promise<Opened> | undefined;
  #connected: Promise<Connected> | undefined;
  #isClosed = false;

  constructor(uri: string, options: PostgresOptions = {}) {
    this.uri = uri;
    this.#options = options;
  }

  async dialect(): Promise<Dialect> {
    return (await this.#open()).dialect;
  }

  /** Runs one statement. Named statements are planned once per connection. Throws `unavailable`. */
  async query<Row extends object>(query: QueryConfig | string, values?: unknown[]): Promise<Row[]> {
    const opened = await this.#open();
    const result = await used(opened, (client) =>
      client.query<Row & Record<string, unknown>>(query as QueryConfig, values),
    );
    return result.rows;
  }

  /** Runs `work` in one transaction: commits when it resolves, rolls back when it rejects. */
  async transaction<T>(work: (client: Queryable, dialect: Dialect) => Promise<T>): Promise<T> {
    const opened = await this.#open();
    return inTransaction(opened, (client) => work(client, opened.dialect));
  }

  /** A dedicated connection, for LISTEN and other long use. The caller ends it. Throws `unavailable`. */
  async connect(): Promise<PoolClient> {
    return checkedOut(await this.#open());
  }

  /** Runs a statement on such a connection. Ends the connection when the database does not respond. Throws `unavailable`. */
  async queryOn<Row extends object>(client: PoolClient, query: QueryConfig | string): Promise<Row[]> {
    const { reachability } = await this.#open();
    return (await watched(reachability, client, () => client.query<Row & Record<string, unknown>>(query))).rows;
  }

  async check(): Promise<void> {
    // Deletes nothing, but needs the permission: a standby rejects it.
    await this.query('delete from agent_replicas where false');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connected = await this.#connected;
    this.#connected = undefined;
    await Promise.all([connected?.pool.end(), connected?.reachability.close()]);
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
    this.#connected ??= this.#connect();
    const connected = await this.#connected;
    return { ...connected, dialect: await inTransaction(connected, migrate) };
  }

  /** Loads the driver, so that servers with other stores do not. */
  async #connect(): Promise<Connected> {
    const { default: pg } = await import('pg');
    const { maxConnections = 10, connectTimeoutMs = answerMs, waitTimeoutMs = 10_000 } = this.#options;
    const { queryTimeoutMs = 30_000, onIdleError } = this.#options;
    const all = { connectionString: this.uri, keepAlive: true, application_name: 'agent-server' };
    const pool = new pg.Pool({
      ...all,
      max: maxConnections,
      connectionTimeoutMillis: waitTimeoutMs,
      query_timeout: queryTimeoutMs,
      // The pool has only one time limit, for connecting and for waiting together.
      Client: class extends pg.Client {
        constructor(options?: ClientConfig) {
          super({ ...options, connectionTimeoutMillis: connectTimeoutMs });
        }
      },
    });
    const questions = new pg.Pool({ ...all, max: 1, connectionTimeoutMillis: answerMs, query_timeout: answerMs });
    // Without a listener, a broken connection would end the process. The pool has dropped it already.
    for (const one of [pool, questions]) one.on('error', (error) => onIdleError?.(error));
    return { pool, reachability: new Reachability(questions) };
  }
}

function inTransaction<T>(connected: Connected, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return used(connected, async (client) => {
    await client.query('begin');
    try {
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => client.end());
      throw error;
    }
  });
}

/** Lends a connection to `work`. Throws `unavailable`. */
async function used<T>(connected: Connected, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await checkedOut(connected);
  let isBroken = false;
  // A connection that breaks between two statements reports it here; the next statement fails with it.
  const onError = (): void => {
    isBroken = true;
  };
  client.on('error', onError);
  try {
    return await watched(connected.reachability, client, () => work(client));
  } catch (error) {
    isBroken ||= error instanceof AppError && error.code === 'unavailable';
    throw error;
  } finally {
    client.off('error', onError);
    client.release(isBroken);
  }
}

/** Runs `work` and ends the connection when the database is unreachable, which fails `work`. */
async function watched<T>(reachability: Reachability, client: PoolClient, work: () => Promise<T>): Promise<T> {
  const waiting = reachability.enter(() => void client.end().catch(() => {}));
  try {
    return await work();
  } catch (error) {
    throw asAppError(error);
  } finally {
    reachability.leave(waiting);
  }
}

/** A connection of the pool. Waits or connects for as long as the database is reachable. */
function checkedOut({ pool, reachability }: Connected): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let isGivenUp = false;
    const waiting = reachability.enter(() => {
      isGivenUp = true;
      reject(asAppError(new Error('The connection has a timeout')));
    });
    const endMs = performance.now() + connectRetryMs;
    const connect = (): void =>
      pool.connect((error, client) => {
        const mayTryAgain = !isGivenUp && performance.now() < endMs && /timeout/i.test(error?.message ?? '');
        if (mayTryAgain) return connect(); // the database or this process is slow; `reachability` decides whether it is unreachable
        reachability.leave(waiting);
        if (!client) reject(asAppError(error));
        else if (isGivenUp) client.release();
        else resolve(client);
      });
    connect();
  });
}
