import { isJsonObject, type JsonObject } from '../base/json.ts';

const geminiTypes = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);
/** Gemini's types carry 64-bit numbers as text. */
const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);
/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['default', 'enum', 'const', 'example', 'examples']);

/** JSON Schema from JSON Schema or from Gemini's dialect of it (upper-case types, counts as text). A new object. */
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

/** Under `properties` the keys are names of the author's, whatever they look like. */
function mapValues(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, isJsonObject(schema) ? jsonSchemaFrom(schema) : schema]),
  );
}
