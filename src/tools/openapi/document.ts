import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { AppError, errorText } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { type OutboundFetch, outboundFetch } from '../../base/outbound-fetch.ts';

const SecurityRequirement = z.record(z.string(), z.array(z.string()));
const Server = z.looseObject({
  url: z.string(),
  variables: z.record(z.string(), z.looseObject({ default: z.union([z.string(), z.number()]).optional() })).optional(),
});
export type Server = z.infer<typeof Server>;

const Document = z.looseObject({
  openapi: z.string().regex(/^3\./, 'must be 3.x'),
  servers: z.array(Server).optional(),
  paths: z.record(z.string(), z.unknown()).default({}),
  components: z.looseObject({ securitySchemes: z.record(z.string(), z.unknown()).optional() }).optional(),
  security: z.array(SecurityRequirement).optional(),
});

const PathItem = z.looseObject({ servers: z.array(Server).optional(), parameters: z.array(z.unknown()).optional() });

const Operation = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  servers: z.array(Server).optional(),
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.unknown().optional(),
  security: z.array(SecurityRequirement).optional(),
});

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** One operation with what it inherits from its path and its document. */
export interface DocumentOperation extends Pick<
  z.infer<typeof Operation>,
  'operationId' | 'summary' | 'description' | 'requestBody'
> {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly unknown[];
  readonly servers: readonly Server[];
  readonly security: readonly Record<string, string[]>[];
}

export interface OpenApiDocument {
  readonly operations: readonly DocumentOperation[];
  /** The document's security schemes, by name. */
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  /** The value that a `$ref` points to. Throws ConfigurationException when it does not exist, or is outside the document. */
  readonly resolve: (ref: string) => unknown;
}

export interface DocumentOptions {
  /** The URL of the document, for relative references. */
  readonly baseUrl?: string;
  /** Whether to fetch other documents that it refers to. Default false. */
  readonly allowExternalRefs?: boolean;
  /** The fetch for other documents. */
  readonly outbound?: OutboundFetch;
}

/** Reads an OpenAPI 3 document, from an object or from its JSON or YAML text. Throws ConfigurationException. */
export async function readDocument(
  source: string | JsonObject,
  options: DocumentOptions = {},
): Promise<OpenApiDocument> {
  const bundled = await bundle(typeof source === 'string' ? parseText(source) : structuredClone(source), options);
  const parsed = Document.safeParse(bundled.document);
  if (!parsed.success) throw unfit(z.prettifyError(parsed.error));
  const document = parsed.data;
  const resolve = (ref: string): unknown => bundled.get(ref);
  const operations = Object.entries(document.paths).flatMap(([path, value]) =>
    operationsOf(path, follow(value, resolve), document),
  );
  return { operations, securitySchemes: document.components?.securitySchemes ?? {}, resolve };
}

const unfit = (why: string, cause?: unknown): AppError =>
  new AppError('ConfigurationException', `The OpenAPI document cannot be used: ${why}`, { cause });

function parseText(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseYaml(text, { maxAliasCount: 1000 });
  } catch (error) {
    // The other lines quote the document.
    throw unfit(errorText(error).split('\n', 1)[0] ?? '', error);
  }
  if (!isJsonObject(value)) throw unfit('it is not an object');
  return value;
}

interface Bundle {
  readonly document: unknown;
  get(ref: string): unknown;
}

/** Includes the other documents, so that all references are local. */
async function bundle(
  document: JsonObject,
  { baseUrl = '', allowExternalRefs = false, outbound = outboundFetch() }: DocumentOptions,
): Promise<Bundle> {
  const { $RefParser } = await import('@apidevtools/json-schema-ref-parser');
  const parser = new $RefParser<JsonObject>();
  try {
    const bundled = await parser.bundle(baseUrl, document, {
      resolve: { external: allowExternalRefs, http: { read: ({ url }) => download(url, outbound) } },
    });
    return {
      document: bundled,
      get(ref) {
        if (!ref.startsWith('#')) throw unfit(`"${ref}" is outside of it`);
        try {
          return parser.$refs.get(ref);
        } catch (error) {
          throw unfit(`"${ref}" does not exist`, error);
        }
      },
    };
  } catch (error) {
    throw unfit(errorText(error), error);
  }
}

async function download(url: string, outbound: OutboundFetch): Promise<string> {
  const response = await outbound(url, { signal: AbortSignal.timeout(downloadMs) });
  if (!response.ok) throw new AppError('ConfigurationException', `${new URL(url).host} answered ${response.status}`);
  return response.text();
}
const downloadMs = 30_000;

/** The value, or the target if it is a reference. */
export function follow(value: unknown, resolve: (ref: string) => unknown): unknown {
  let found = value;
  for (let hops = 0; hops < 20; hops += 1) {
    if (!isJsonObject(found) || typeof found['$ref'] !== 'string') return found;
    found = resolve(found['$ref']);
  }
  throw unfit('it has circular references');
}

function operationsOf(path: string, value: unknown, document: z.infer<typeof Document>): DocumentOperation[] {
  const item = PathItem.safeParse(value);
  if (!item.success) throw unfit(`path "${path}": ${z.prettifyError(item.error)}`);
  return methods.flatMap((method) => {
    const found = item.data[method];
    if (found === undefined) return [];
    const parsed = Operation.safeParse(found);
    if (!parsed.success) throw unfit(`${method.toUpperCase()} "${path}": ${z.prettifyError(parsed.error)}`);
    const operation = parsed.data;
    return [
      {
        ...operation,
        method: method.toUpperCase(),
        path,
        parameters: [...(item.data.parameters ?? []), ...(operation.parameters ?? [])],
        servers: operation.servers ?? item.data.servers ?? document.servers ?? [],
        security: operation.security ?? document.security ?? [],
      },
    ];
  });
}
