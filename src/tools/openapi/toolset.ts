import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { checkTimeLimit } from '../../base/timers.ts';
import type { MaybePromise, Tool, ToolContext, Toolset } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { InMemoryCredentials } from '../auth/credential-store.ts';
import { filteredToolset, type ToolFilter } from '../filtered-toolset.ts';
import { parseOptions } from '../options.ts';
import { readDocument } from './document.ts';
import { freeName, operationName } from './names.ts';
import { operationTool } from './operation-tool.ts';
import { operationInput } from './parameters.ts';
import { serverAddress } from './request.ts';
import { type OpenApiAuth, OpenApiSecurity } from './security.ts';

export interface OpenApiToolsetOptions extends Partial<OpenApiAuth> {
  /** An OpenAPI 3 document, as an object or as JSON or YAML text. */
  readonly spec: string | JsonObject;
  /** Address of the service, when it is not the first server of the document. */
  readonly server?: string;
  /** Where the document came from: server addresses and references may be relative to it. */
  readonly baseUrl?: string;
  /** Whether other documents that it refers to are fetched. Default false. */
  readonly allowExternalRefs?: boolean;
  readonly filter?: ToolFilter;
  readonly prefix?: string;
  /** Arguments keep the document's spelling where it makes a name; default: snake_case. */
  readonly keepNames?: boolean;
  /** Headers of every request. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | ((ctx: ToolContext) => MaybePromise<Readonly<Record<string, string>>>);
  /** Milliseconds for one request; default 30,000. */
  readonly timeoutMs?: number;
}

/**
 * The operations of an OpenAPI 3 document as tools. The document is read when the tools are first asked for; that
 * fails with ConfigurationException when it cannot be used.
 */
export function openApiToolset(options: OpenApiToolsetOptions): Toolset {
  checkTimeLimit('timeoutMs of an OpenAPI toolset', options.timeoutMs);
  let tools: Promise<readonly Tool[]> | undefined;
  const source: Toolset = {
    kind: 'toolset',
    isRemote: true,
    name: 'openapi',
    getTools: () => (tools ??= readTools(options)),
    close: async () => {},
  };
  const { filter, prefix } = options;
  return filteredToolset(source, { ...(filter && { filter }), ...(prefix !== undefined && { prefix }) });
}

async function readTools(options: OpenApiToolsetOptions): Promise<readonly Tool[]> {
  const { spec, server, baseUrl, headers = {}, keepNames = false, timeoutMs = 30_000 } = options;
  const document = await readDocument(spec, options);
  const security = new OpenApiSecurity(document, { ...options, store: options.store ?? new InMemoryCredentials() });
  const taken = new Set<string>();
  return document.operations.map((operation) =>
    operationTool({
      name: freeName(operationName(operation.operationId, operation.path, operation.method), taken),
      operation,
      input: operationInput(operation, document, { keepNames }),
      server: serverAddress(server === undefined ? operation.servers : [{ url: server }], baseUrl),
      sources: security.sourcesFor(operation),
      headers: typeof headers === 'function' ? headers : () => headers,
      timeoutMs,
    }),
  );
}

const Args = lenient({
  specDict: z.record(z.string(), z.unknown()).optional(),
  specStr: z.string().optional(),
  spec: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  server: z.string().optional(),
  baseUrl: z.string().optional(),
  toolFilter: z.array(z.string()).optional(),
  prefix: z.string().optional(),
  toolNamePrefix: z.string().optional(),
  preservePropertyNames: z.boolean().optional(),
  credentials: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  authScheme: z.record(z.string(), z.unknown()).optional(),
  authCredential: z.record(z.string(), z.unknown()).optional(),
  credentialKey: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
}).refine(({ spec, specDict, specStr }) => spec !== undefined || specDict !== undefined || specStr !== undefined, {
  message: 'needs a spec, spec_dict or spec_str',
});

/** The same from the `args` of a configuration file, under the names ADK gives them. Throws ConfigurationException. */
export function openApiToolsetFrom(args: JsonObject = {}): Toolset {
  const { spec, specDict, specStr, toolFilter, prefix, toolNamePrefix, preservePropertyNames, ...rest } = parseOptions(
    'OpenAPIToolset',
    Args,
    args,
  );
  const start = prefix ?? toolNamePrefix;
  return openApiToolset({
    ...definedOnly(rest),
    spec: spec ?? specDict ?? specStr ?? '',
    ...(toolFilter && { filter: toolFilter }),
    ...(start !== undefined && { prefix: start }),
    ...(preservePropertyNames !== undefined && { keepNames: preservePropertyNames }),
  });
}

const definedOnly = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
