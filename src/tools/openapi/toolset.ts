import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { checkTimeLimit } from '../../base/timers.ts';
import type { Tool, Toolset } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import type { AccessLimits } from '../access-limits.ts';
import { filteredToolset } from '../filtered-toolset.ts';
import { parseOptions } from '../options.ts';
import type { OpenApiToolsetOptions } from './options.ts';

/**
 * The operations of an OpenAPI 3 document as tools. The document is read when the tools are first requested; that throws
 * ConfigurationException for an unusable document.
 */
export function openApiToolset(options: OpenApiToolsetOptions): Toolset {
  checkTimeLimit('timeoutMs of an OpenAPI toolset', options.timeoutMs);
  let tools: Promise<readonly Tool[]> | undefined;
  // Readers of documents are loaded with the first document.
  const readTools = async () => (await import('./document-tools.ts')).readTools(options);
  const source: Toolset = {
    kind: 'toolset',
    isRemote: true,
    name: 'openapi',
    getTools: () => (tools ??= readTools()),
    async check() {
      if (!options.allowExternalRefs) await readTools();
    },
    close: async () => {},
  };
  const { filter, prefix } = options;
  return filteredToolset(source, { ...(filter && { filter }), ...(prefix !== undefined && { prefix }) });
}

const argsSchema = lazily(() =>
  lenient({
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
  }),
);

/** The same from the `args` of a configuration file, with ADK's names. Throws ConfigurationException. */
export function openApiToolsetFrom(args: JsonObject = {}, limits: AccessLimits = {}): Toolset {
  const { spec, specDict, specStr, toolFilter, prefix, toolNamePrefix, preservePropertyNames, ...rest } = parseOptions(
    'OpenAPIToolset',
    argsSchema(),
    args,
  );
  const start = prefix ?? toolNamePrefix;
  return openApiToolset({
    ...definedOnly(rest),
    ...limits,
    spec: spec ?? specDict ?? specStr ?? '',
    ...(toolFilter && { filter: toolFilter }),
    ...(start !== undefined && { prefix: start }),
    ...(preservePropertyNames !== undefined && { keepNames: preservePropertyNames }),
  });
}

const definedOnly = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
