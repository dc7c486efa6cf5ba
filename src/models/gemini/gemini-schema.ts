import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** Thrown inside a translation when Gemini's schema dialect cannot express the schema. */
const inexpressible = Symbol('inexpressible');

const annotations = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'additionalProperties',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  'examples',
  'uniqueItems',
  'multipleOf',
]);
const copied = new Set(['title', 'description', 'nullable', 'default', 'example', 'pattern', 'propertyOrdering']);
/** 64-bit integers, which are texts in Gemini's JSON. */
const counts = new Set(['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength']);
const formats: Readonly<Record<string, readonly string[]>> = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
};
const types = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT']);

/**
 * A JSON Schema in Gemini's own dialect, or undefined when that cannot express it (recursion, maps, tuples, untyped
 * values, enums of numbers …) and the JSON Schema should be sent unchanged. Unsupported constraints are dropped where they
 * only narrow a type: the tool checks its arguments itself.
 */
export function toGeminiSchema(schema: JsonObject): JsonObject | undefined {
  try {
    return translate(schema, { root: schema, open: [], budget: { left: maxSteps } });
  } catch (error) {
    if (error === inexpressible || error instanceof URIError) return undefined;
    throw error;
  }
}

interface Place {
  readonly root: JsonObject;
  /** The references on the path to here. */
  readonly open: readonly string[];
  readonly budget: { left: number };
}

/** Nested schemas, with references followed. Some schemas double at each reference: those are sent unchanged. */
const maxSteps = 10_000;

function translate(value: unknown, place: Place): JsonObject {
  if (!isJsonObject(value) || place.budget.left <= 0) throw inexpressible;
  place.budget.left -= 1;
  if (typeof value['$ref'] === 'string') return inline(value, value['$ref'], place);
  const variants = variantsOf(value);
  if (variants) return translateUnion(value, variants, place);
  return translatePlain(value, place);
}

function inline(schema: JsonObject, ref: string, place: Place): JsonObject {
  if (!ref.startsWith('#') || place.open.includes(ref)) throw inexpressible;
  let target: unknown = place.root;
  for (const step of ref.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (!isJsonObject(target)) throw inexpressible;
  const { $ref: _, ...beside } = schema;
  return translate({ ...target, ...beside }, { ...place, open: [...place.open, ref] });
}

/** The alternatives of a schema, in any of the spellings of JSON Schema. */
function variantsOf(schema: JsonObject): unknown[] | undefined {
  for (const key of ['anyOf', 'oneOf']) if (Array.isArray(schema[key])) return schema[key];
  const all = schema['allOf'];
  if (Array.isArray(all)) {
    if (all.length !== 1) throw inexpressible;
    return all;
  }
  const type = schema['type'];
  if (!Array.isArray(type)) return undefined;
  const { enum: choices, ...rest } = schema;
  return type.map((one) =>
    one === 'null' ? { type: 'null' } : { ...rest, ...(choices ? { enum: choices } : {}), type: one },
  );
}

const isNull = (schema: unknown): boolean =>
  isJsonObject(schema) &&
  (schema['type'] === 'null' || ('const' in schema && schema['const'] === null)) &&
  schema['anyOf'] === undefined;

/** Gemini requires `anyOf` alone, so the keywords beside it move into each alternative. */
function translateUnion(schema: JsonObject, variants: readonly unknown[], place: Place): JsonObject {
  const { anyOf: _any, oneOf: _one, allOf: _all, type: beside, ...shared } = schema;
  const kept = variants.filter((variant) => !isNull(variant));
  if (kept.length === 0) throw inexpressible;
  const nullable = kept.length < variants.length;
  const translated = kept.map((variant) => {
    if (!isJsonObject(variant)) throw inexpressible;
    const type = typeof beside === 'string' ? { type: beside } : {};
    const one = translate({ ...type, ...shared, ...variant }, place);
    return nullable ? { ...one, nullable: true } : one;
  });
  const [only] = translated;
  return translated.length === 1 && only ? only : { anyOf: translated };
}

function translatePlain(schema: JsonObject, place: Place): JsonObject {
  const type = typeOf(schema);
  const result: JsonObject = { type };
  for (const [key, value] of Object.entries(schema)) {
    if (copied.has(key)) result[key] = value;
    else if (counts.has(key)) result[key] = String(value);
    else if (!annotations.has(key) && !key.startsWith('x-')) addField(result, key, { value, place, type });
  }
  if (type === 'OBJECT' && Object.keys((result['properties'] as JsonObject | undefined) ?? {}).length === 0) {
    throw inexpressible;
  }
  if (type === 'ARRAY' && !result['items']) throw inexpressible;
  return result;
}

function typeOf(schema: JsonObject): string {
  const choices = 'const' in schema ? [schema['const']] : schema['enum'];
  const type = typeof schema['type'] === 'string' ? schema['type'].toUpperCase() : undefined;
  if (type !== undefined && types.has(type)) return type;
  if (type === undefined && Array.isArray(choices) && choices.some((choice) => typeof choice === 'string'))
    return 'STRING';
  if (type === undefined && isJsonObject(schema['properties'])) return 'OBJECT';
  if (type === undefined && isJsonObject(schema['items'])) return 'ARRAY';
  throw inexpressible;
}

function addField(
  result: JsonObject,
  key: string,
  { value, place, type }: { value: unknown; place: Place; type: string },
): void {
  switch (key) {
    case 'type':
      return;
    case 'format':
      if (formats[type]?.includes(String(value))) result['format'] = value;
      return;
    case 'const':
      return addChoices(result, [value], type);
    case 'enum':
      if (!Array.isArray(value)) throw inexpressible;
      return addChoices(result, value, type);
    case 'items':
      result['items'] = translate(value, place);
      return;
    case 'properties':
      if (!isJsonObject(value)) throw inexpressible;
      result['properties'] = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, translate(property, place)]),
      );
      return;
    case 'required':
      if (Array.isArray(value) && value.length > 0) result['required'] = value;
      return;
    case 'minimum':
    case 'maximum':
      // Schema libraries add the bounds of safe integers by default; they are dropped.
      if (Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER) result[key] = value;
      return;
    case 'exclusiveMinimum':
      if (type === 'INTEGER') result['minimum'] = Number(value) + 1;
      return;
    case 'exclusiveMaximum':
      if (type === 'INTEGER') result['maximum'] = Number(value) - 1;
      return;
    default:
      throw inexpressible;
  }
}

/** Gemini's enums are texts that are not empty. */
function addChoices(result: JsonObject, choices: readonly unknown[], type: string): void {
  const texts = choices.filter((choice) => choice !== null);
  if (type !== 'STRING' || texts.some((text) => typeof text !== 'string' || text === '')) throw inexpressible;
  if (texts.length < choices.length) result['nullable'] = true;
  result['enum'] = texts;
}
