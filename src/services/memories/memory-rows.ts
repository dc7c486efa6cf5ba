import { createHash } from 'node:crypto';
import { textOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import { wordsOf } from './words.ts';

/** A remembered message. */
export interface RememberedMessage {
  readonly entry: MemoryEntry;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly words: ReadonlySet<string>;
}

/** The remembered form of an event; empty for a message without words, which no search could find. */
export function rememberedMessages({ id, author, content, timestamp }: Event): RememberedMessage[] {
  if (!content) return [];
  const words = wordsOf(textOf(content, ' '));
  if (words.size === 0) return [];
  const time = new Date(timestamp * 1000);
  const entry: MemoryEntry = { id, author, content };
  if (!Number.isNaN(time.getTime())) entry.timestamp = time.toISOString();
  return [{ entry, timestamp, words }];
}

/** A message as a database row. */
export interface MemoryRow {
  readonly position: number;
  /** The entry's JSON. */
  readonly entry: string;
  readonly timestamp: number;
  readonly tokens: readonly string[];
}

/** The memory rows of a session. */
export interface SessionMemory extends SessionKey {
  readonly rows: readonly MemoryRow[];
}

export function memoryOf({ appName, userId, id, events }: Session): SessionMemory {
  const rows = events.flatMap(rememberedMessages).map(({ entry, timestamp, words }, position) => ({
    position,
    entry: JSON.stringify(entry),
    timestamp,
    tokens: [...words].map(tokenOf),
  }));
  return { appName, userId, sessionId: id, rows };
}

/**
 * The index token of a word: ASCII letters and digits, of bounded length, unique per word. So every index finds the same
 * words, independent of its Unicode support.
 */
export function tokenOf(word: string): string {
  if (/^[a-z\d]{1,64}$/.test(word)) return `a${word}`;
  const bytes = Buffer.from(word);
  return bytes.length <= 64 ? `b${bytes.toString('hex')}` : `c${createHash('sha256').update(bytes).digest('hex')}`;
}
