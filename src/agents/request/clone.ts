/** A copy of plain objects and arrays all the way down; anything else (texts, class instances, functions) is shared. */
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
