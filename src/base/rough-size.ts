/** What a value weighs besides its texts. */
const perValue = 16;

/** Roughly the bytes that a JSON value takes, and is as JSON text: for bounds, at a fraction of the cost of the text. */
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
