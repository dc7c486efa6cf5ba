import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { type DocumentOperation, follow, type OpenApiDocument } from './document.ts';
import { freeName, snakeCase } from './names.ts';
import { plainSchema } from './schemas.ts';

/** An argument and its place in the request. `body`: a property of the body; `whole`: the body itself. */
export interface Parameter {
  /** Its name for the model. */
  readonly argument: string;
  /** Its name at the service. */
  readonly name: string;
  readonly place: 'path' | 'query' | 'header' | 'cookie' | 'body' | 'whole';
  readonly isRequired: boolean;
  readonly schema: JsonObject;
  readonly style: string;
  readonly explode: boolean;
  /** Whether the value is sent as JSON text. */
  readonly isJson: boolean;
}

export interface OperationInput {
  readonly parameters: readonly Parameter[];
  /** Media type of the body; absent without a body. */
  readonly bodyType?: string;
  readonly isBodyRequired: boolean;
}

const DocumentParameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: z.unknown().optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.unknown().optional() })).optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
});

const RequestBody = z.looseObject({
  required: z.boolean().default(false),
  description: z.string().optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.unknown().optional() })).default({}),
});

/** Headers of the protocol: OpenAPI requires that parameters with these names are ignored. */
const ownHeaders = new Set(['accept', 'content-type', 'authorization']);
const styles = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;

/** The parameters and the body of an operation as arguments with unique names, in snake_case unless `keepNames`. */
export function operationInput(
  operation: DocumentOperation,
  { resolve }: OpenApiDocument,
  { keepNames }: { readonly keepNames: boolean },
): OperationInput {
  const taken = new Set<string>();
  const argumentFor = (name: string): string =>
    freeName((keepNames && /^[A-Za-z_]\w*$/.test(name) ? name : snakeCase(name)) || 'value', taken);
  const parameters = documentParameters(operation, resolve).map((found): Parameter => {
    const { name, in: place, required, description } = found;
    const style = found.style ?? styles[place];
    const schema = plainSchema(found.schema ?? Object.values(found.content ?? {})[0]?.schema ?? {}, resolve);
    return {
      argument: argumentFor(name),
      name,
      place,
      isRequired: required || place === 'path',
      schema: { ...schema, ...(description !== undefined && { description }) },
      style,
      explode: found.explode ?? style === 'form',
      isJson: found.content !== undefined,
    };
  });
  const body = RequestBody.safeParse(follow(operation.requestBody, resolve));
  if (!body.success) return { parameters, isBodyRequired: false };
  const bodyType = preferredType(Object.keys(body.data.content));
  if (bodyType === undefined) return { parameters, isBodyRequired: false };
  const schema = plainSchema(body.data.content[bodyType]?.schema ?? {}, resolve);
  const described = { ...(body.data.description !== undefined && { description: body.data.description }), ...schema };
  return {
    parameters: [...parameters, ...bodyParameters(described, body.data.required, argumentFor)],
    bodyType,
    isBodyRequired: body.data.required,
  };
}

/** Parameters of an operation override those of its path with the same name and place. */
function documentParameters(
  operation: DocumentOperation,
  resolve: (ref: string) => unknown,
): z.infer<typeof DocumentParameter>[] {
  const found = new Map<string, z.infer<typeof DocumentParameter>>();
  for (const value of operation.parameters) {
    const parameter = DocumentParameter.safeParse(follow(value, resolve));
    if (!parameter.success) continue;
    const { name, in: place } = parameter.data;
    if (place === 'header' && ownHeaders.has(name.toLowerCase())) continue;
    found.set(`${place}:${name}`, parameter.data);
  }
  return [...found.values()];
}

const preferences = [
  /^application\/json\b|\+json\b/,
  /^application\/x-www-form-urlencoded\b/,
  /^multipart\/form-data\b/,
  /^text\//,
  /./,
];

function preferredType(types: readonly string[]): string | undefined {
  for (const preference of preferences) {
    const found = types.find((type) => preference.test(type));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The properties of an object become separate arguments; any other body is one argument. */
function bodyParameters(
  schema: JsonObject,
  isBodyRequired: boolean,
  argumentFor: (name: string) => string,
): Parameter[] {
  const common = { style: 'form', explode: true, isJson: false } as const;
  const { properties } = schema;
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) {
    return [{ ...common, argument: argumentFor('body'), name: '', place: 'whole', isRequired: isBodyRequired, schema }];
  }
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  return Object.entries(properties).map(([name, property]) => ({
    ...common,
    argument: argumentFor(name),
    name,
    place: 'body' as const,
    isRequired: required.has(name),
    schema: property as JsonObject,
  }));
}

/** The arguments as JSON Schema, for the model. `undefined` without arguments. */
export function argumentsSchema(parameters: readonly Parameter[]): JsonObject | undefined {
  if (parameters.length === 0) return undefined;
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ argument, schema }) => [argument, schema])),
    ...(required.length > 0 && { required }),
  };
}
