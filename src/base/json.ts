/** A plain object read from JSON. */
export type JsonObject = Record<string, unknown>;

/** Whether the value is an object that came from (or can become) a JSON object: not null, not an array, no class. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Freezes a JSON value and all it holds, and returns it. Frozen parts are taken as frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) deepFreeze(value[key]);
  }
  return value;
}

/**
 * A copy of the value as JSON would carry it: classes, functions, symbols and `undefined` gone, `bigint` and cycles
 * turned into text, so that whatever a tool hands over can be stored and sent.
 */
export function toJson(value: unknown): unknown {
  const open = new Set<object>();
  const visit = (item: unknown): unknown => {
    if (typeof item === 'bigint') return item.toString();
    if (typeof item === 'number') return Number.isFinite(item) ? item : null;
    if (typeof item === 'function' || typeof item === 'symbol') return undefined;
    if (typeof item !== 'object' || item === null) return item;
    if (open.has(item)) return '[circular]';
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

/** Maps may have keys of any kind; what is no text already is told as JSON. */
function keyText(key: unknown, visit: (item: unknown) => unknown): string {
  return typeof key === 'string' ? key : (JSON.stringify(visit(key)) ?? typeof key);
}

/** Sets an own property even when the key is `__proto__`, which plain assignment would turn into a prototype change. */
export function define(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
