import { isJsonObject, type JsonObject } from '../base/json.ts';

const kept = new Set(['type', 'enum', 'const', 'description', 'title', '$ref', 'required']);
const formats = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/**
 * A schema of answers as Claude takes it: objects are closed, and what it cannot be held to (lengths, bounds, patterns …)
 * is told in the description instead.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const result: JsonObject = {};
  const told: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (kept.has(key)) result[key] = value;
    else if (key === 'properties' || key === '$defs') result[key] = mapValues(value);
    else if (key === 'items') result[key] = child(value);
    else if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(value)) result['anyOf'] = value.map(child);
    else if (key === 'allOf' && Array.isArray(value)) result['allOf'] = value.map(child);
    else if (key === 'format' && formats.has(String(value))) result[key] = value;
    else if (key === 'minItems' && (value === 0 || value === 1)) result[key] = value;
    else if (key !== '$schema' && key !== 'additionalProperties') told.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (result['type'] === 'object') result['additionalProperties'] = false;
  if (told.length > 0) {
    const before = typeof result['description'] === 'string' ? `${result['description']} ` : '';
    result['description'] = `${before}(${told.join(', ')})`;
  }
  return result;
}

const child = (value: unknown): unknown => (isJsonObject(value) ? closedSchema(value) : value);

const mapValues = (value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, child(one)])) : value;
