import { AppError } from './errors.ts';

/** A plain object read from JSON. */
export type JsonObject = Record<string, unknown>;

/** Whether the value is an object that came from (or can become) a JSON object: not null, not an array, no class. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** How deep objects and lists may nest: code that stores, sends or shows a value walks it recursively. */
export const maxJsonDepth = 200;
/** The same for a whole event, which wraps such a value in levels of its own. */
const maxEventDepth = maxJsonDepth + 16;
/** Values, and characters of text, in one JSON value; its JSON still fits into a string. */
const maxJsonValues = 1_000_000;
const maxJsonLength = 64 * 1024 * 1024;

/**
 * Why a value cannot be stored and sent as JSON; `undefined` when it can. A circular value counts as nested too deeply. A
 * value that is referenced several times counts each time, because JSON repeats it.
 */
export const jsonFault = (value: unknown): string | undefined => walk(value, false);

/** The same, and freezes the value recursively. One walk does both, because every event of every run needs it. */
export const freezeJson = (value: unknown): string | undefined => walk(value, true);

function walk(value: unknown, freezes: boolean): string | undefined {
  try {
    return faultIn(value, 0, { values: maxJsonValues, length: maxJsonLength, freezes });
  } catch {
    return 'it cannot be read'; // a getter that throws
  }
}

interface Walk {
  /** Values and characters that are still allowed. */
  values: number;
  length: number;
  readonly freezes: boolean;
}

/** Checks the most frequent types first. */
function faultIn(value: unknown, depth: number, left: Walk): string | undefined {
  if (typeof value === 'string') {
    left.length -= value.length;
    return left.length < 0 ? 'it is too long' : undefined;
  }
  if (typeof value !== 'object') {
    const kind = typeof value;
    return kind === 'bigint' || kind === 'function' || kind === 'symbol' ? `it holds a ${kind}` : undefined;
  }
  if (value === null) return undefined;
  if (left.freezes) Object.freeze(value);
  if (depth >= maxEventDepth) return `it is nested deeper than ${maxEventDepth} levels`;
  if (Array.isArray(value)) {
    left.values -= value.length;
    if (left.values < 0) return tooManyValues;
    for (const item of value) {
      const fault = faultIn(item, depth + 1, left);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (hasOwnForm(value)) return 'it holds an object with a toJSON method';
  const object = value as JsonObject;
  for (const key in object) {
    left.values -= 1;
    if (left.values < 0) return tooManyValues;
    left.length -= key.length;
    const item = object[key];
    if (typeof item === 'number' || typeof item === 'boolean') continue;
    const fault = faultIn(item, depth + 1, left);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const tooManyValues = 'it holds too many values';

/** Whether an object has a `toJSON` method. Plain objects are not asked: a function in one is a fault anyway. */
function hasOwnForm(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || value instanceof Date) return false;
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** A deep copy of plain objects and arrays; everything else (texts, class instances, functions) is shared. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = {};
  // Spread first: it copies even a key named `__proto__` as data.
  Object.assign(copy, { ...value });
  for (const key of Object.keys(copy)) {
    const item = copy[key];
    if (typeof item === 'object' && item !== null) copy[key] = cloneJson(item);
  }
  return copy as T;
}

/** Freezes a JSON value recursively and returns it. A part that is frozen already counts as deeply frozen. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) deepFreeze(value[key]);
  }
  return value;
}

/**
 * A copy of the value as JSON has it, so that every tool result can be stored and sent: no classes, functions, symbols
 * and `undefined`, `bigint` and cycles as text. Throws `agent_failed` for a value nested deeper than `maxJsonDepth`.
 */
export function toJson(value: unknown): unknown {
  const open = new Set<object>();
  const visit = (item: unknown): unknown => {
    if (typeof item === 'bigint') return item.toString();
    if (typeof item === 'number') return Number.isFinite(item) ? item : null;
    if (typeof item === 'function' || typeof item === 'symbol') return undefined;
    if (typeof item !== 'object' || item === null) return item;
    if (open.has(item)) return '[circular]';
    if (open.size >= maxJsonDepth)
      throw new AppError('agent_failed', `A value is nested deeper than ${maxJsonDepth} levels`);
    open.add(item);
    const copy = copyObject(item, visit);
    open.delete(item);
    return copy;
  };
  return visit(value);
}

function copyObject(item: object, visit: (item: unknown) => unknown): unknown {
  if ('toJSON' in item && typeof item.toJSON === 'function') return visit(item.toJSON());
  if (Array.isArray(item)) return item.map((entry) => visit(entry) ?? null);
  if (item instanceof Map)
    return visit(Object.fromEntries([...item].map(([key, entry]) => [keyText(key, visit), entry])));
  if (item instanceof Set) return visit([...item]);
  if (item instanceof Uint8Array) return Buffer.from(item).toString('base64');
  if (item instanceof Error) return { name: item.name, message: item.message };
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(item)) {
    const kept = visit(entry);
    if (kept !== undefined) define(copy, key, kept);
  }
  return copy;
}

/** The key of a Map entry as text: JSON for a key that is not a string. */
function keyText(key: unknown, visit: (item: unknown) => unknown): string {
  return typeof key === 'string' ? key : (JSON.stringify(visit(key)) ?? typeof key);
}

/** Sets an own property even when the key is `__proto__`, where an assignment would change the prototype. */
export function define(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
