import type { KeyStore } from '../../core/key-store.ts';
import type { ApiKey } from '../../schemas/api-key.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
import { keyColumns, keyCounts, type KeyCounts, keyExists, keyOf, type KeyRow, keysOf, versionOf } from './key-rows.ts';

/** Keeps API keys in PostgreSQL, beside the sessions. */
export class PostgresKeys implements KeyStore {
  readonly #database: PostgresDatabase;
  #version = '';
  #keys: readonly ApiKey[] = [];

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async list(): Promise<readonly ApiKey[]> {
    // The counts first: a key that comes in between is read twice, not missed.
    const [counts] = await this.#database.query<KeyCounts>({ name: 'agent-key-counts', text: keyCounts });
    const version = versionOf(counts);
    if (version !== this.#version) {
      const sql = `select ${keyColumns} from agent_api_keys order by created_at, id`;
      this.#keys = keysOf(await this.#database.query<KeyRow>(sql));
      this.#version = version;
    }
    return this.#keys;
  }

  async add(key: ApiKey): Promise<void> {
    const sql = `insert into agent_api_keys (id, record, created_at) values ($1, $2, $3)
      on conflict do nothing returning id`;
    const added = await this.#database.query(sql, [key.id, JSON.stringify(key), key.createdAt]);
    if (added.length === 0) throw keyExists(key.id);
  }

  async revoke(id: string, time: string): Promise<ApiKey | undefined> {
    const sql = `update agent_api_keys set revoked_at = coalesce(revoked_at, $2) where id = $1 returning ${keyColumns}`;
    const [row] = await this.#database.query<KeyRow>(sql, [id, time]);
    return row && keyOf(row);
  }
}
