import { isJsonObject, type JsonObject } from '../base/json.ts';

const geminiTypes = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);
/** Keywords whose numbers Gemini writes as text, because they are 64-bit integers. */
const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);
/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['default', 'enum', 'const', 'example', 'examples']);

/** Converts Gemini's dialect of JSON Schema (upper-case types, counts as text) to JSON Schema. Returns a new object. */
export function jsonSchemaFrom(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !(keyword === 'type' && value === 'TYPE_UNSPECIFIED'))
      .map(([keyword, value]) => [keyword, translate(keyword, value)]),
  );
}

function translate(keyword: string, value: unknown): unknown {
  if (dataKeywords.has(keyword)) return value;
  if (typeof value === 'string') {
    if (keyword === 'type' && geminiTypes.has(value)) return value.toLowerCase();
    return counts.has(keyword) && /^\d+$/.test(value) ? Number(value) : value;
  }
  if (Array.isArray(value)) return value.map((entry: unknown) => (isJsonObject(entry) ? jsonSchemaFrom(entry) : entry));
  if (!isJsonObject(value)) return value;
  return keyword === 'properties' ? mapValues(value) : jsonSchemaFrom(value);
}

/** The keys under `properties` are the author's names, even if they look like keywords. */
function mapValues(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, isJsonObject(schema) ? jsonSchemaFrom(schema) : schema]),
  );
}
