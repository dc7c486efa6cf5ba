import { isJsonObject, type JsonObject } from '../../base/json.ts';

const kept = new Set(['type', 'enum', 'const', 'description', 'title', '$ref', 'required']);
const formats = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/**
 * An output schema that Claude accepts: objects are closed, and unsupported keywords (lengths, bounds, patterns …) move
 * into the description.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const result: JsonObject = {};
  const constraints: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (kept.has(key)) result[key] = value;
    else if (key === 'properties' || key === '$defs') result[key] = mapValues(value);
    else if (key === 'items') result[key] = child(value);
    else if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(value)) result['anyOf'] = value.map(child);
    else if (key === 'allOf' && Array.isArray(value)) result['allOf'] = value.map(child);
    else if (key === 'format' && formats.has(String(value))) result[key] = value;
    else if (key === 'minItems' && (value === 0 || value === 1)) result[key] = value;
    else if (key !== '$schema' && key !== 'additionalProperties') constraints.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (result['type'] === 'object') result['additionalProperties'] = false;
  if (constraints.length > 0) {
    const before = typeof result['description'] === 'string' ? `${result['description']} ` : '';
    result['description'] = `${before}(${constraints.join(', ')})`;
  }
  return result;
}

const child = (value: unknown): unknown => (isJsonObject(value) ? closedSchema(value) : value);

const mapValues = (value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, child(one)])) : value;
