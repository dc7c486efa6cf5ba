import { createHash } from 'node:crypto';
import { textOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey } from '../../schemas/session.ts';
import { wordsOf } from './words.ts';

/** A message as it is remembered. */
export interface Remembered {
  readonly entry: MemoryEntry;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly words: ReadonlySet<string>;
}

/** A message without a visible word can never be found, so it is not kept. */
export function remembered({ id, author, content, timestamp }: Event): Remembered[] {
  if (!content) return [];
  const words = wordsOf(textOf(content, ' '));
  if (words.size === 0) return [];
  const time = new Date(timestamp * 1000);
  const entry: MemoryEntry = { id, author, content };
  if (!Number.isNaN(time.getTime())) entry.timestamp = time.toISOString();
  return [{ entry, timestamp, words }];
}

/** A message on its way into a database. */
export interface MemoryRow {
  readonly position: number;
  /** The entry's JSON. */
  readonly entry: string;
  readonly timestamp: number;
  readonly tokens: readonly string[];
}

/** What a session leaves in a database's memory. */
export interface SessionMemory extends SessionKey {
  readonly rows: readonly MemoryRow[];
}

export function memoryOf({ appName, userId, id, events }: Session): SessionMemory {
  const rows = events.flatMap(remembered).map(({ entry, timestamp, words }, position) => ({
    position,
    entry: JSON.stringify(entry),
    timestamp,
    tokens: [...words].map(tokenOf),
  }));
  return { appName, userId, sessionId: id, rows };
}

/**
 * A word as an index holds it: letters and digits of ASCII, of bounded length, one for each word. So every index finds
 * the same words, whatever it knows of Unicode.
 */
export function tokenOf(word: string): string {
  if (/^[a-z\d]{1,64}$/.test(word)) return `a${word}`;
  const bytes = Buffer.from(word);
  return bytes.length <= 64 ? `b${bytes.toString('hex')}` : `c${createHash('sha256').update(bytes).digest('hex')}`;
}
