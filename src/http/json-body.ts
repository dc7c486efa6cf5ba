import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';

/** Levels of nesting a request body may have. */
const maxDepth = 100;
/**
 * Keys and list items a request body may hold. To check and to copy one costs many times its bytes, so that a body of
 * a few megabytes made of nothing else would stop the server for a minute, or exhaust its memory.
 */
const maxValues = 250_000;

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Reads a JSON body. An empty one counts as absent: ADK clients name the content type on requests without a body.
 * Keys that could reach a prototype are refused, so that no later copy has to think of them.
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

/** The value in a JSON text from outside. `place` says where the text stood. Throws `invalid_request`. */
export function parseJson(bytes: Buffer, place: string): unknown {
  if (!isUtf8(bytes)) throw new AppError('invalid_request', `The ${place} is not valid UTF-8`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new AppError('invalid_request', `The ${place} is not valid JSON`);
  }
  checkTree(value, 0, { place, valuesLeft: maxValues });
  return value;
}

interface Walk {
  readonly place: string;
  valuesLeft: number;
}

function checkTree(value: unknown, depth: number, walk: Walk): void {
  if ((walk.valuesLeft -= 1) < 0) {
    throw new AppError('too_large', `The ${walk.place} holds more than ${maxValues} values`);
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) {
    throw new AppError('invalid_request', `The ${walk.place} is nested deeper than ${maxDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (const item of value) checkTree(item, depth + 1, walk);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    const item = object[key];
    if (key === '__proto__' || (key === 'constructor' && holdsPrototype(item))) {
      throw new AppError('invalid_request', `The ${walk.place} holds the key "${key}"`);
    }
    checkTree(item, depth + 1, walk);
  }
}

const holdsPrototype = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
