import { define } from '../base/json.ts';

/** Levels of JSON that are measured; a deeper value counts as too large. */
const maxDepth = 200;
/** Characters before a cut in which the end of a word is searched: `redact` cannot recognise half a credential. */
const wordLength = 1_024;

/**
 * Estimates the memory of a JSON value in bytes, rather too high: two for each character of a text, some for each key
 * and item. Stops counting above `limit`.
 */
export function memoryBytes(value: unknown, limit: number, depth = 0): number {
  if (typeof value === 'string') return 16 + value.length * 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth > maxDepth) return Infinity;
  let bytes = 32;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 8 + memoryBytes(item, limit, depth + 1);
      if (bytes > limit) return bytes;
    }
    return bytes;
  }
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    // Most values are texts.
    bytes += 16 + (typeof item === 'string' ? 16 + item.length * 2 : memoryBytes(item, limit, depth + 1));
    if (bytes > limit) return bytes;
  }
  return bytes;
}

/** The same for an event, at a fraction of the cost: every step of every run calls it. */
export function eventMemoryBytes(event: Readonly<Record<string, unknown>>, limit: number): number {
  let bytes = 400;
  for (const key in event) {
    const value = event[key];
    if (typeof value === 'string') bytes += value.length * 2;
    else if (typeof value === 'object') bytes += memoryBytes(value, limit, 1);
    if (bytes > limit) return bytes;
  }
  return bytes;
}

/**
 * Returns the value itself if it takes at most `limit` bytes, else a copy cut to that size. The copy says where it was
 * cut, and leaves out media.
 */
export function truncate<T>(value: T, limit: number): T {
  return memoryBytes(value, limit) > limit ? (new Cut(limit).of(value) as T) : value; // the shape of T, with less in it
}

/** The first `units` characters of a longer text, with a note of its length. Keeps no reference to the text. */
export function truncateText(text: string, units: number): string {
  if (text.length <= units) return text;
  const head = text.slice(0, Math.max(0, units));
  const wordEnd = head.slice(-wordLength).search(/[\s"',;][^\s"',;]*$/);
  const end = wordEnd < 0 ? head.length : Math.max(0, head.length - wordLength) + wordEnd;
  // A slice would keep the whole text in memory. Converting to bytes and back makes an independent text.
  return `${Buffer.from(head.slice(0, end)).toString()}… [cut: it has ${text.length} characters]`;
}

/** Copies JSON until its bytes are used up. */
class Cut {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  of(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.#text(value);
    this.#left -= 32;
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth) return '[cut: too deeply nested]';
    if (Array.isArray(value)) return this.#array(value, depth);
    return this.#object(value as Record<string, unknown>, depth);
  }

  #text(text: string): string {
    const cut = truncateText(text, Math.floor(this.#left / 2));
    this.#left -= 16 + cut.length * 2;
    return cut;
  }

  #array(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const item of items) {
      if (this.#left <= 0) {
        copy.push(`[cut: ${items.length - copy.length} more]`);
        break;
      }
      copy.push(this.of(item, depth + 1));
    }
    return copy;
  }

  #object(value: Record<string, unknown>, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const key in value) {
      if (this.#left <= 0) {
        copy['…'] = '[cut: there is more]';
        break;
      }
      const item = value[key];
      const isMedia = key === 'inlineData' && typeof item === 'object' && item !== null;
      define(copy, this.#text(key), this.of(isMedia ? { ...item, data: undefined } : item, depth + 1));
    }
    return copy;
  }
}
