import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { memoryOf, tokenOf } from './memory-rows.ts';
import { ownerOf } from './sqlite-writes.ts';
import { wordsOf } from './words.ts';

/** Remembers sessions in SQLite, and finds messages in an index of their words. */
export class SqliteMemories implements MemoryService {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  addSessionToMemory(session: Session): Promise<void> {
    return this.#database.write('remember', memoryOf(session));
  }

  async searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    const wanted = [...wordsOf(query)].map(tokenOf);
    if (wanted.length === 0) return [];
    const rows = await this.#database.read((connection) =>
      connection.all<{ entry: string }>(
        `select entry from agent_memories where app_name = ? and user_id = ? and id in (
          select memory_id from agent_memory_words where owner = ? and word in (select value from json_each(?)))
        order by said_at, id`,
        owner.appName,
        owner.userId,
        ownerOf(owner),
        JSON.stringify(wanted),
      ),
    );
    return rows.map(({ entry }) => JSON.parse(entry) as MemoryEntry);
  }

  deleteSessionMemory(key: SessionKey): Promise<void> {
    return this.#database.write('forgetMemory', key);
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
