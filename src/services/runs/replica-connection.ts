import type { PoolClient } from 'pg';
import { AppError } from '../../base/errors.ts';
import type { PostgresDatabase } from '../postgres/database.ts';

const retryMs = 250;

/** Receives the messages of a connection. */
export interface MessageListener {
  onMessage(message: string): void;
  /** Messages may have been lost: the connection broke, or was reestablished. */
  onDisconnect(): void;
}

/**
 * A dedicated connection of this replica, for incoming messages and outgoing heartbeats, so that they do not wait for busy
 * connections. Reconnects until it is closed.
 */
export class ReplicaConnection {
  readonly #database: PostgresDatabase;
  readonly #channel: string;
  readonly #listener: MessageListener;
  #client: PoolClient | undefined;
  #connecting: Promise<PoolClient> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(database: PostgresDatabase, channel: string, listener: MessageListener) {
    this.#database = database;
    this.#channel = channel;
    this.#listener = listener;
    this.#connectAgain();
  }

  /** One statement after the other. Throws `unavailable`. */
  query<Row extends object>(query: { name: string; text: string; values: unknown[] }): Promise<Row[]> {
    const done = this.#last.then(() => this.#queryNow<Row>(query));
    this.#last = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  async #queryNow<Row extends object>(query: { name: string; text: string; values: unknown[] }): Promise<Row[]> {
    return this.#database.queryOn<Row>(await this.#connected(), query);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#drop(this.#client);
  }

  #connected(): Promise<PoolClient> {
    if (this.#isClosed) throw new AppError('unavailable', 'The database is closed');
    if (this.#client) return Promise.resolve(this.#client);
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<PoolClient> {
    const client = await this.#database.connect();
    client.on('error', () => this.#broken(client));
    client.on('end', () => this.#broken(client));
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) this.#listener.onMessage(payload);
    });
    this.#client = client;
    try {
      await this.#database.queryOn(client, `listen "${this.#channel}"`);
    } catch (error) {
      this.#drop(client);
      throw error;
    }
    if (this.#isClosed) this.#drop(client);
    this.#listener.onDisconnect();
    return client;
  }

  #broken(client: PoolClient): void {
    if (this.#client !== client) return;
    this.#drop(client);
    this.#listener.onDisconnect();
    this.#connectAgain();
  }

  #drop(client: PoolClient | undefined): void {
    if (!client || this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
  }

  #connectAgain(): void {
    if (this.#isClosed) return;
    const again = (): void => {
      this.#retry = setTimeout(() => this.#connectAgain(), retryMs).unref();
    };
    this.#connected().catch(again);
  }
}
