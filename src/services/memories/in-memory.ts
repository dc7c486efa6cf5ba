import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';
import { type Remembered, remembered } from './memory-rows.ts';
import { wordsOf } from './words.ts';

/** Remembers sessions for the life of the process and finds messages by the words they share with a question. */
export class InMemoryMemories implements MemoryService {
  /** Owner → session id → its messages. */
  readonly #owners = new Map<string, Map<string, readonly Remembered[]>>();

  async addSessionToMemory({ appName, userId, id, events }: Session): Promise<void> {
    const owner = ownerKey({ appName, userId });
    const sessions = this.#owners.get(owner) ?? new Map<string, readonly Remembered[]>();
    sessions.set(id, events.flatMap(remembered));
    this.#owners.set(owner, sessions);
  }

  async searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    const wanted = wordsOf(query);
    if (wanted.size === 0) return [];
    const sessions = this.#owners.get(ownerKey(owner))?.values() ?? [];
    return [...sessions]
      .flat()
      .filter(({ words }) => [...wanted].some((word) => words.has(word)))
      .toSorted((a, b) => a.timestamp - b.timestamp)
      .map(({ entry }) => entry);
  }

  async deleteSessionMemory({ appName, userId, sessionId }: SessionKey): Promise<void> {
    const owner = ownerKey({ appName, userId });
    const sessions = this.#owners.get(owner);
    sessions?.delete(sessionId);
    if (sessions?.size === 0) this.#owners.delete(owner);
  }
}

const ownerKey = ({ appName, userId }: SessionOwner): string => JSON.stringify([appName, userId]);
