import type { KeyStore } from '../../core/key-store.ts';
import type { ApiKey } from '../../schemas/api-key.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { keyColumns, keyCounts, type KeyCounts, keyExists, keyOf, type KeyRow, keysOf, versionOf } from './key-rows.ts';

/** Keeps API keys in SQLite, beside the sessions. */
export class SqliteKeys implements KeyStore {
  readonly #database: SqliteDatabase;
  #version = '';
  #keys: readonly ApiKey[] = [];

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  list(): Promise<readonly ApiKey[]> {
    return this.#database.read((connection) => {
      // The counts first: a key that comes in between is read twice, not missed.
      const version = versionOf(connection.get<KeyCounts>(keyCounts));
      if (version !== this.#version) {
        const sql = `select ${keyColumns} from agent_api_keys order by created_at, id`;
        this.#keys = keysOf(connection.all<KeyRow>(sql));
        this.#version = version;
      }
      return this.#keys;
    });
  }

  async add(key: ApiKey): Promise<void> {
    const { id, createdAt } = key;
    const isAdded = await this.#database.write('addApiKey', { id, createdAt, record: JSON.stringify(key) });
    if (!isAdded) throw keyExists(id);
  }

  async revoke(id: string, time: string): Promise<ApiKey | undefined> {
    await this.#database.write('revokeApiKey', { id, time });
    const sql = `select ${keyColumns} from agent_api_keys where id = ?`;
    const row = await this.#database.read((connection) => connection.get<KeyRow>(sql, id));
    return row && keyOf(row);
  }
}
