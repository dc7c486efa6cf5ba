import { createHash } from 'node:crypto';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';
import type { WriteContext } from '../sqlite/dialect.ts';
import type { SessionMemory } from './memory-rows.ts';

// The writes of memories in SQLite. They run in the writer thread, within a transaction.

export function remember({ connection }: WriteContext, memory: SessionMemory): void {
  forgetMemory({ connection }, memory);
  const { appName, userId, sessionId, rows } = memory;
  const owner = ownerOf(memory);
  for (const { position, entry, timestamp, tokens } of rows) {
    const stored = connection.get<{ id: number }>(
      `insert into agent_memories (app_name, user_id, session_id, position, said_at, entry)
        values (?, ?, ?, ?, ?, ?) returning id`,
      appName,
      userId,
      sessionId,
      position,
      timestamp,
      entry,
    );
    for (const token of tokens) {
      connection.run(
        'insert into agent_memory_words (owner, word, memory_id) values (?, ?, ?)',
        owner,
        token,
        stored?.id ?? null,
      );
    }
  }
}

export function forgetMemory({ connection }: Pick<WriteContext, 'connection'>, key: SessionKey): void {
  const values = [key.appName, key.userId, key.sessionId];
  const ids = 'select id from agent_memories where app_name = ? and user_id = ? and session_id = ?';
  connection.run(`delete from agent_memory_words where memory_id in (${ids})`, ...values);
  connection.run('delete from agent_memories where app_name = ? and user_id = ? and session_id = ?', ...values);
}

/** The owner of words as a short key, because each index entry contains it. */
export const ownerOf = ({ appName, userId }: SessionOwner): string =>
  createHash('sha256')
    .update(JSON.stringify([appName, userId]))
    .digest('base64url')
    .slice(0, 22);
