/** Bytes of a value besides its text. */
const perValue = 16;

/** Estimates the bytes of a JSON value, in memory or as JSON text, for limits: far cheaper than making the text. */
export function roughSize(value: unknown): number {
  if (typeof value === 'string') return perValue + value.length;
  if (typeof value !== 'object' || value === null) return perValue;
  let size = perValue;
  if (Array.isArray(value)) {
    for (const item of value) size += roughSize(item);
    return size;
  }
  for (const key in value) size += key.length + roughSize(value[key as keyof typeof value]);
  return size;
}
