import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';

/** Levels of nesting a request body may have. */
const maxDepth = 100;
/**
 * Keys and list items in a request body. Checking and copying each costs many times its bytes, so a body of a few
 * megabytes of nothing else would block the server for seconds, or exhaust its memory.
 */
const maxValues = 200_000;
/** Above so many keys V8 stores an object as a hash table, and each copy costs ten times as much. */
const manyKeys = 100;
/** Keys that all objects of more than `manyKeys` may have together. */
const maxKeysOfLargeObjects = 50_000;
/** A smaller body cannot reach these limits. */
const smallBytes = 64 * 1024;

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Parses a JSON body. An empty body counts as absent: ADK clients send the content type on requests without a body.
 * Refuses keys that could change a prototype, so that later code need not handle them.
 */
export function readJsonBody(_request: FastifyRequest, bytes: Buffer, done: Done): void {
  if (bytes.length === 0) {
    done(null, undefined);
    return;
  }
  let body: unknown;
  try {
    body = parseJson(bytes, 'request body');
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, body);
}

/**
 * Parses an untrusted JSON text. `place` names its source in messages. Throws `invalid_request`, and `too_large` for a
 * value that would take long to process. A large text is counted before it is parsed: parsing ten megabytes of brackets
 * takes a second.
 */
export function parseJson(bytes: Buffer, place: string): unknown {
  if (!isUtf8(bytes)) throw new AppError('invalid_request', `The ${place} is not valid UTF-8`);
  if (bytes.length > smallBytes) checkShape(bytes, place);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new AppError('invalid_request', `The ${place} is not valid JSON`);
  }
  checkTree(value, 0, place);
  return value;
}

const signs = {
  quote: 0x22,
  comma: 0x2c,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** Counts levels, values and keys in the text, without checking that it is valid JSON. */
function checkShape(bytes: Buffer, place: string): void {
  let values = 1;
  let keysOfLargeObjects = 0;
  /** For each open list or object the values in it so far. */
  const open: { count: number }[] = [];
  const tooLarge = (limit: string): AppError => new AppError('too_large', `The ${place} holds more than ${limit}`);
  for (let at = 0; at < bytes.length; at += 1) {
    const sign: number = bytes[at] ?? 0;
    switch (sign) {
      case signs.quote:
        at = endOfString(bytes, at);
        break;
      case signs.openList:
      case signs.openObject:
        open.push({ count: 1 });
        values += 1;
        if (open.length > maxDepth) throw tooDeep(place);
        break;
      case signs.comma: {
        const inner = open.at(-1);
        if (inner) inner.count += 1;
        values += 1;
        if (values > maxValues) throw tooLarge(`${maxValues} values`);
        break;
      }
      case signs.closeObject: {
        const { count = 0 } = open.pop() ?? {};
        if (count <= manyKeys) break;
        keysOfLargeObjects += count;
        if (keysOfLargeObjects > maxKeysOfLargeObjects) {
          throw tooLarge(`${maxKeysOfLargeObjects} keys in objects of more than ${manyKeys} keys`);
        }
        break;
      }
      case signs.closeList:
        open.pop();
        break;
      default: // a number, a word, white space
    }
  }
}

/** Where the string ends that begins at a quote. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === signs.backslash) at += 1;
    else if (bytes[at] === signs.quote) return at;
  }
  return bytes.length;
}

function checkTree(value: unknown, depth: number, place: string): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) throw tooDeep(place);
  if (Array.isArray(value)) {
    for (const item of value) checkTree(item, depth + 1, place);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    const item = object[key];
    if (key === '__proto__' || (key === 'constructor' && holdsPrototype(item))) {
      throw new AppError('invalid_request', `The ${place} holds the key "${key}"`);
    }
    checkTree(item, depth + 1, place);
  }
}

const tooDeep = (place: string): AppError =>
  new AppError('invalid_request', `The ${place} is nested deeper than ${maxDepth} levels`);

const holdsPrototype = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
