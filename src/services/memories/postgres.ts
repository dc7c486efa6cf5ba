import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
import { memoryOf, tokenOf } from './memory-rows.ts';
import { wordsOf } from './words.ts';

/** Messages per statement. */
const storedAtOnce = 500;

/** Remembers sessions in PostgreSQL, and finds messages in an inverted index of their words. */
export class PostgresMemories implements MemoryService {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const { appName, userId, sessionId, rows } = memoryOf(session);
    await this.#database.transaction(async (client) => {
      await client.query(forget, [appName, userId, sessionId]);
      for (let start = 0; start < rows.length; start += storedAtOnce) {
        const some = rows.slice(start, start + storedAtOnce);
        // PostgreSQL's nested arrays must all have the same length, so the words are sent as one text.
        await client.query(
          `insert into agent_memories (app_name, user_id, session_id, position, said_at, entry, words)
            select $1, $2, $3, position, said_at, entry, string_to_array(words, ' ')
            from unnest($4::int[], $5::float8[], $6::text[], $7::text[]) as g(position, said_at, entry, words)
            on conflict (app_name, user_id, session_id, position)
              do update set said_at = excluded.said_at, entry = excluded.entry, words = excluded.words`,
          [
            appName,
            userId,
            sessionId,
            some.map(({ position }) => position),
            some.map(({ timestamp }) => timestamp),
            some.map(({ entry }) => entry),
            some.map(({ tokens }) => tokens.join(' ')),
          ],
        );
      }
    });
  }

  async searchMemory({ appName, userId }: SessionOwner, query: string): Promise<MemoryEntry[]> {
    const wanted = [...wordsOf(query)].map(tokenOf);
    if (wanted.length === 0) return [];
    const rows = await this.#database.query<{ entry: string }>(
      `select entry from agent_memories where app_name = $1 and user_id = $2 and words && $3::text[]
        order by said_at, session_id, position`,
      [appName, userId, wanted],
    );
    return rows.map(({ entry }) => JSON.parse(entry) as MemoryEntry);
  }

  async deleteSessionMemory({ appName, userId, sessionId }: SessionKey): Promise<void> {
    await this.#database.query(forget, [appName, userId, sessionId]);
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const forget = 'delete from agent_memories where app_name = $1 and user_id = $2 and session_id = $3';
