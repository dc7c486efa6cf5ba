import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** Keywords of OpenAPI that are useless to models. */
const dropped = new Set([
  'discriminator',
  'xml',
  'externalDocs',
  'example',
  'examples',
  'readOnly',
  'writeOnly',
  'deprecated',
  'nullable',
  '$schema',
  '$id',
  '$anchor',
  '$defs',
  'definitions',
]);
const listsOfSchemas = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const singleSchemas = new Set(['items', 'not', 'additionalProperties', 'contains', 'if', 'then', 'else']);

/** Limit for schemas with many references: a small document could become a huge declaration. */
const maxNodes = 3000;

type Resolve = (ref: string) => unknown;

/**
 * Plain JSON Schema from a schema of an OpenAPI 3.0 or 3.1 document: references inlined, `nullable` and boolean bounds
 * converted, parts of `allOf` merged, read-only properties removed. A recursive schema is cut to a plain object.
 */
export function plainSchema(schema: unknown, resolve: Resolve): JsonObject {
  let nodes = 0;
  const convert = (value: unknown, open: readonly string[]): JsonObject => {
    nodes += 1;
    if (!isJsonObject(value) || nodes > maxNodes) return {};
    const { $ref } = value;
    if (typeof $ref === 'string') {
      if (open.includes($ref)) return { type: 'object' };
      const { $ref: _, ...beside } = value;
      return { ...convert(resolve($ref), [...open, $ref]), ...convert(beside, open) };
    }
    return merged(nullable(bounds(children(value, open)), value));
  };
  const children = (value: JsonObject, open: readonly string[]): JsonObject => {
    const result: JsonObject = {};
    for (const [key, entry] of Object.entries(value)) {
      if (dropped.has(key) || key.startsWith('x-')) continue;
      if (key === 'properties' && isJsonObject(entry)) result[key] = properties(entry, open);
      else if (listsOfSchemas.has(key) && Array.isArray(entry)) result[key] = entry.map((one) => convert(one, open));
      else if (singleSchemas.has(key) && isJsonObject(entry)) result[key] = convert(entry, open);
      else result[key] = entry;
    }
    return result;
  };
  const properties = (entries: JsonObject, open: readonly string[]): JsonObject =>
    Object.fromEntries(
      Object.entries(entries)
        .filter(([, property]) => !(isJsonObject(property) && property['readOnly'] === true))
        .map(([name, property]) => [name, convert(property, open)]),
    );
  return withoutStrayRequired(convert(schema, []));
}

/** Converts exclusive bounds: a boolean beside the bound in OpenAPI 3.0, a separate number in JSON Schema. */
function bounds(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  const above = exclusiveMinimum === true ? { exclusiveMinimum: minimum } : { minimum, exclusiveMinimum };
  const below = exclusiveMaximum === true ? { exclusiveMaximum: maximum } : { maximum, exclusiveMaximum };
  const kept = Object.entries({ ...above, ...below }).filter(([, bound]) => typeof bound === 'number');
  return { ...rest, ...Object.fromEntries(kept) };
}

function nullable(schema: JsonObject, source: JsonObject): JsonObject {
  const { type } = schema;
  if (source['nullable'] !== true || typeof type !== 'string') return schema;
  const choices = Array.isArray(schema['enum']) ? { enum: [...(schema['enum'] as unknown[]), null] } : {};
  return { ...schema, type: [type, 'null'], ...choices };
}

/** Merges the parts of `allOf` that describe one object, because models handle `allOf` badly. */
function merged(schema: JsonObject): JsonObject {
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf)) return schema;
  const parts = [...(allOf as JsonObject[]), own];
  if (parts.some(({ type }) => type !== undefined && type !== 'object')) {
    return allOf.length === 1 ? { ...(allOf[0] as JsonObject), ...own } : schema;
  }
  const result: JsonObject = Object.assign({}, ...parts) as JsonObject;
  const allProperties: JsonObject = Object.assign({}, ...parts.map((part) => part['properties'])) as JsonObject;
  const required = [...new Set(parts.flatMap((part) => (part['required'] as string[] | undefined) ?? []))];
  return {
    ...result,
    ...(Object.keys(allProperties).length > 0 && { type: 'object', properties: allProperties }),
    ...(required.length > 0 && { required }),
  };
}

/** Removes properties from `required` that were left out: no value could satisfy them. */
function withoutStrayRequired(schema: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [key, entry] of Object.entries(schema)) {
    if (key === 'properties' && isJsonObject(entry)) {
      result[key] = Object.fromEntries(
        Object.entries(entry).map(([name, one]) => [name, withoutStrayRequired(one as JsonObject)]),
      );
    } else if (listsOfSchemas.has(key)) result[key] = (entry as JsonObject[]).map(withoutStrayRequired);
    else if (singleSchemas.has(key) && isJsonObject(entry)) result[key] = withoutStrayRequired(entry);
    else result[key] = entry;
  }
  const { required, properties } = result;
  if (!Array.isArray(required) || !isJsonObject(properties)) return result;
  const { required: _, ...rest } = result;
  const kept = required.filter((name) => Object.hasOwn(properties, String(name)));
  return kept.length > 0 ? { ...rest, required: kept } : rest;
}
