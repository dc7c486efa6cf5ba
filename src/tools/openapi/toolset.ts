import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { outboundFetch } from '../../base/outbound-fetch.ts';
import { checkTimeLimit } from '../../base/timers.ts';
import type { MaybePromise, Tool, ToolContext, Toolset } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { InMemoryCredentials } from '../auth/credential-store.ts';
import { filteredToolset, type ToolFilter } from '../filtered-toolset.ts';
import { parseOptions } from '../options.ts';
import type { Reach } from '../reach.ts';
import { type DocumentOperation, readDocument } from './document.ts';
import { freeName, operationName } from './names.ts';
import { operationTool } from './operation-tool.ts';
import { operationInput } from './parameters.ts';
import { serverAddress } from './request.ts';
import { type OpenApiAuth, OpenApiSecurity } from './security.ts';

export interface OpenApiToolsetOptions extends Partial<OpenApiAuth>, Reach {
  /** An OpenAPI 3 document, as an object or as JSON or YAML text. */
  readonly spec: string | JsonObject;
  /** Address of the service, when it is not the first server of the document. */
  readonly server?: string;
  /**
   * Where the document came from: server addresses and references may be relative to it. The document is then that
   * server's word and not the author's: other hosts it names have to be on the public internet.
   */
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
    async check() {
      if (!options.allowExternalRefs) await readTools(options);
    },
    close: async () => {},
  };
  const { filter, prefix } = options;
  return filteredToolset(source, { ...(filter && { filter }), ...(prefix !== undefined && { prefix }) });
}

const maxDocumentBytes = 10 * 1024 ** 2;

async function readTools(options: OpenApiToolsetOptions): Promise<readonly Tool[]> {
  const { spec, server, baseUrl, headers = {}, keepNames = false, timeoutMs = 30_000 } = options;
  const places = { named: options.publicOnly ? [] : [server, baseUrl] };
  const documents = outboundFetch({ ...places, maxBytes: maxDocumentBytes });
  const document = await readDocument(spec, { ...options, outbound: documents });
  const security = new OpenApiSecurity(document, { ...options, store: options.store ?? new InMemoryCredentials() });
  const ofOperation = (operation: DocumentOperation): string =>
    serverAddress(server === undefined ? operation.servers : [{ url: server }], baseUrl);
  const isOwn = baseUrl === undefined && !options.publicOnly;
  const outbound = outboundFetch({ named: [...places.named, ...(isOwn ? document.operations.map(ofOperation) : [])] });
  const taken = new Set<string>();
  return document.operations.map((operation) => {
    const address = ofOperation(operation);
    const sources = security.sourcesFor(operation);
    for (const source of sources) source.checkService(address);
    return operationTool({
      name: freeName(operationName(operation.operationId, operation.path, operation.method), taken),
      operation,
      input: operationInput(operation, document, { keepNames }),
      server: address,
      sources,
      headers: typeof headers === 'function' ? headers : () => headers,
      timeoutMs,
      outbound,
    });
  });
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
export function openApiToolsetFrom(args: JsonObject = {}, reach: Reach = {}): Toolset {
  const { spec, specDict, specStr, toolFilter, prefix, toolNamePrefix, preservePropertyNames, ...rest } = parseOptions(
    'OpenAPIToolset',
    Args,
    args,
  );
  const start = prefix ?? toolNamePrefix;
  return openApiToolset({
    ...definedOnly(rest),
    ...reach,
    spec: spec ?? specDict ?? specStr ?? '',
    ...(toolFilter && { filter: toolFilter }),
    ...(start !== undefined && { prefix: start }),
    ...(preservePropertyNames !== undefined && { keepNames: preservePropertyNames }),
  });
}

const definedOnly = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
