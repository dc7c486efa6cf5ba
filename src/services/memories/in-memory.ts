import { AppError } from '../../base/errors.ts';
import { roughSize } from '../../base/rough-size.ts';
import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';
import { type RememberedMessage, rememberedMessages } from './memory-rows.ts';
import { wordsOf } from './words.ts';

/** Remembers sessions until the process ends. Finds messages by the words that they share with a query. */
export class InMemoryMemories implements MemoryService {
  /** Owner → session id → its messages. */
  readonly #owners = new Map<string, Map<string, readonly RememberedMessage[]>>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes`: approximate limit for all memories; beyond it, `addSessionToMemory` throws `storage_full`. */
  constructor({ maxBytes = Infinity }: { readonly maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  async addSessionToMemory({ appName, userId, id, events }: Session): Promise<void> {
    const owner = ownerKey({ appName, userId });
    const sessions = this.#owners.get(owner) ?? new Map<string, readonly RememberedMessage[]>();
    const messages = events.flatMap(rememberedMessages);
    const bytes = this.#bytes + sizeOf(messages) - sizeOf(sessions.get(id) ?? []);
    if (bytes > this.#maxBytes) {
      throw new AppError('storage_full', 'There is no room for more memories in memory: keep them in a database');
    }
    this.#bytes = bytes;
    sessions.set(id, messages);
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
    this.#bytes -= sizeOf(sessions?.get(sessionId) ?? []);
    sessions?.delete(sessionId);
    if (sessions?.size === 0) this.#owners.delete(owner);
  }
}

/** Approximate bytes of remembered messages with their words, besides the events that they share with the session. */
const sizeOf = (messages: readonly RememberedMessage[]): number =>
  messages.reduce((sum, { entry, words }) => sum + roughSize(entry) + words.size * wordBytes, 0);

/** Bytes per word of a set. */
const wordBytes = 40;

const ownerKey = ({ appName, userId }: SessionOwner): string => JSON.stringify([appName, userId]);
