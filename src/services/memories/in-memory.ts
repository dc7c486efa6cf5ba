import { AppError } from '../../base/errors.ts';
import { roughSize } from '../../base/rough-size.ts';
import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';
import { type Remembered, remembered } from './memory-rows.ts';
import { wordsOf } from './words.ts';

/** Remembers sessions for the life of the process and finds messages by the words they share with a question. */
export class InMemoryMemories implements MemoryService {
  /** Owner → session id → its messages. */
  readonly #owners = new Map<string, Map<string, readonly Remembered[]>>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes`: what all memories may take together, roughly; what would go beyond is refused with `storage_full`. */
  constructor({ maxBytes = Infinity }: { readonly maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  async addSessionToMemory({ appName, userId, id, events }: Session): Promise<void> {
    const owner = ownerKey({ appName, userId });
    const sessions = this.#owners.get(owner) ?? new Map<string, readonly Remembered[]>();
    const messages = events.flatMap(remembered);
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

/** Roughly the bytes of remembered messages: each with its words, beside the events they share with the session. */
const sizeOf = (messages: readonly Remembered[]): number =>
  messages.reduce((sum, { entry, words }) => sum + roughSize(entry) + words.size * wordBytes, 0);

/** What one word of a set takes. */
const wordBytes = 40;

const ownerKey = ({ appName, userId }: SessionOwner): string => JSON.stringify([appName, userId]);
