import { define, isJsonObject, type JsonObject } from '../../base/json.ts';

/** Keys whose values are user data: keys below them are never renamed. */
const opaque = new Set([
  'args',
  'response',
  'stateDelta',
  'state',
  'labels',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'customMetadata',
]);
/** Opaque keys that hold data only as objects: a function declaration's or tool recording's `response` is a structure with known keys. */
const camel = (key: string): string => key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A copy with the keys of cassette structures in camelCase, user data untouched. */
export const camelKeys = (value: unknown): unknown => rename(value, camel);
/** A copy with the keys of cassette structures in snake_case, user data untouched. */
export const snakeKeys = (value: unknown): unknown => rename(value, snake);

function rename(value: unknown, renameKey: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((entry) => rename(entry, renameKey));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) {
    define(copy, renameKey(key), opaque.has(camel(key)) ? entry : rename(entry, renameKey));
  }
  return copy;
}
