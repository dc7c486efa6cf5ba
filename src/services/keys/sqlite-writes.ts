import type { WriteContext } from '../sqlite/dialect.ts';

// What changes API keys in SQLite. Runs in the thread that writes, within a transaction.

export interface AddedKey {
  readonly id: string;
  readonly createdAt: string;
  /** JSON. */
  readonly record: string;
}

/** Whether the key was added: `false` if there is one with this id. */
export function addApiKey({ connection }: WriteContext, { id, createdAt, record }: AddedKey): boolean {
  const sql = 'insert or ignore into agent_api_keys (id, record, created_at) values (?, ?, ?)';
  return connection.run(sql, id, record, createdAt) > 0;
}

export function revokeApiKey({ connection }: WriteContext, { id, time }: { id: string; time: string }): void {
  connection.run('update agent_api_keys set revoked_at = coalesce(revoked_at, ?) where id = ?', time, id);
}
