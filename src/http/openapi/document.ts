import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { Problem } from '../../schemas/records.ts';
import type { Operation } from '../operation.ts';

/** The fields of a JSON Schema that the API page reads. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly (string | number | boolean | null)[];
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  /** On servers that know their callers: each scheme is enough alone, an empty list means that no credential is needed. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The role that the caller needs; absent if any caller may. */
  readonly 'x-required-role'?: string;
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string } & JsonObject;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes?: Readonly<Record<string, JsonObject>>;
  };
}

const problemType = 'application/problem+json';

/** How callers send their credentials. */
const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of this server, or a token of an accepted issuer',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
};

function securityOf({ access: { role } }: Operation): Pick<DescribedOperation, 'security' | 'x-required-role'> {
  if (role === 'public') return { security: [] };
  const security = Object.keys(securitySchemes).map((name) => ({ [name]: [] }));
  return { security, ...(role !== 'any' && { 'x-required-role': role }) };
}

export interface DescriptionOptions {
  readonly version: string;
  /** Whether the server knows its callers, and checks what they may do. */
  readonly callersKnown: boolean;
}

/** Describes the route table as OpenAPI 3.1: every alias is a path of its own. */
export function openApiDocument(
  operations: readonly Operation[],
  { version, callersKnown }: DescriptionOptions,
): OpenApiDocument {
  const schemas = new Components();
  const problem = schemas.ofResponse(Problem);
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  // Responses first: they get the plain schema names. Request schemas are more lenient and need names of their own.
  const responseSchemas = new Map(
    operations.map(({ response }) => [response, response.schema && schemas.ofResponse(response.schema)]),
  );
  for (const operation of operations) {
    const { mediaType = 'application/json', description = 'Success', status = 200, others = [] } = operation.response;
    const schema = responseSchemas.get(operation.response);
    const inPath = parametersOf(operation, 'path');
    const inQuery = parametersOf(operation, 'query');
    const shared = {
      tags: [operation.tag],
      summary: operation.summary,
      ...(callersKnown && securityOf(operation)),
      ...(operation.body
        ? { requestBody: { content: { 'application/json': { schema: schemas.ofRequest(operation.body) } } } }
        : {}),
      responses: {
        [status]: {
          description,
          ...(schema && {
            content: { [mediaType]: { schema }, ...Object.fromEntries(others.map((type) => [type, { schema: {} }])) },
          }),
        },
        default: { description: 'Failure', content: { [problemType]: { schema: problem } } },
      },
    };
    for (const [index, path] of operation.paths.entries()) {
      const shown = path.replaceAll('+}', '}');
      const parameters = [...inPath.filter(({ name }) => shown.includes(`{${name}}`)), ...inQuery];
      paths[shown] ??= {};
      paths[shown][operation.method.toLowerCase()] = {
        operationId: idOf(operation.method, shown),
        ...shared,
        ...(parameters.length > 0 ? { parameters } : {}),
        ...(index > 0 ? { description: `The same as ${operation.paths[0]}` } : {}),
      };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'agent-server',
      version,
      description: 'Hosts conversational agents on the wire protocol of the Agent Development Kit.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: { schemas: schemas.all, ...(callersKnown && { securitySchemes }) },
  };
}

function idOf(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9_-]+/).filter(Boolean);
  return [method.toLowerCase(), ...words].join('.');
}

function parametersOf(operation: Operation, place: 'path' | 'query'): Parameter[] {
  const declared = place === 'path' ? operation.params : operation.query;
  if (!declared) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(declared, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, property]) => {
    const isGreedy = operation.paths[0].includes(`{${name}+}`);
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(isGreedy ? { description: 'May hold slashes' } : {}),
      schema: property as JsonSchema,
    };
  });
}

/** Named schemas, each once: response schemas under their own name, request schemas as `…Input` if both exist. */
class Components {
  readonly all: Record<string, JsonSchema> = {};
  readonly #responseNames = new Set<string>();

  ofResponse(schema: z.ZodType): JsonSchema {
    return this.#add(schema, 'output', (name) => {
      this.#responseNames.add(name);
      return name;
    });
  }

  ofRequest(schema: z.ZodType): JsonSchema {
    return this.#add(schema, 'input', (name) => (this.#responseNames.has(name) ? `${name}Input` : name));
  }

  #add(schema: z.ZodType, io: 'input' | 'output', nameOf: (name: string) => string): JsonSchema {
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    const names = new Map(Object.keys($defs).map((name) => [name, nameOf(name)]));
    for (const [name, definition] of Object.entries($defs)) {
      const shownName = names.get(name) ?? name;
      this.all[shownName] ??= withRefs(definition, names) as JsonSchema;
    }
    return withRefs(rest, names) as JsonSchema;
  }
}

/** The schema with its references pointing at components. A reference beside its own copy is enough alone. */
function withRefs(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withRefs(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as JsonObject;
  const ref = schema['$ref'];
  if (typeof ref === 'string' && ref.startsWith('#/$defs/')) {
    const name = ref.slice('#/$defs/'.length);
    return { $ref: `#/components/schemas/${names.get(name) ?? name}` };
  }
  return Object.fromEntries(Object.entries(schema).map(([key, item]) => [key, withRefs(item, names)]));
}
