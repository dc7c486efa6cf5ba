import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ReadonlyContext, Toolset } from '../../core/runtime.ts';
import { filteredToolset } from '../filtered-toolset.ts';
import { McpAccess } from './access.ts';
import { mcpOptions, type McpToolsetSpec, usableName } from './connection/options.ts';
import type { McpPrompt } from './prompts.ts';
import type { McpResource } from './resources.ts';
import type { McpServer } from './server.ts';

/** The tools, resources and prompts of an MCP server. The methods here throw McpToolsetException and the other MCP errors. */
export interface McpToolset extends Toolset {
  listResources(ctx: ReadonlyContext): Promise<readonly McpResource[]>;
  readResource(uri: string, ctx: ReadonlyContext): Promise<ReadResourceResult>;
  listPrompts(ctx: ReadonlyContext): Promise<readonly McpPrompt[]>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, ctx: ReadonlyContext): Promise<GetPromptResult>;
}

/**
 * Tools of an MCP server, over stdio, SSE or streamable HTTP. Connects when the tools are first requested; `close` ends
 * the sessions, and a later use opens new ones. Throws ConfigurationException for invalid options.
 */
export function mcpToolset(spec: McpToolsetSpec): McpToolset {
  const options = mcpOptions(spec);
  const access = new McpAccess(options);
  let loading: Promise<McpServer> | undefined;
  const load = async (): Promise<McpServer> => new (await import('./server.ts')).McpServer(options, access);
  const server = (): Promise<McpServer> => (loading ??= load());
  const { namePrefix: prefix, toolFilter } = options;
  const filter = typeof toolFilter === 'function' ? toolFilter : toolFilter?.map(usableName);
  const offered = filteredToolset(
    {
      kind: 'toolset',
      name: options.name,
      getTools: async (ctx) => (await server()).tools(ctx),
      close: async () => (await loading)?.close(),
    },
    { ...(filter && { filter }), ...(prefix !== undefined && { prefix }) },
  );
  return {
    ...offered,
    isRemote: true,
    getTools: async (ctx) => [...(await offered.getTools(ctx)), ...(await (await server()).extraTools(ctx))],
    listResources: async (ctx) => (await server()).resources(ctx),
    readResource: async (uri, ctx) =>
      (await server()).request(ctx, (session, limit) => session.readResource(uri, limit)),
    listPrompts: async (ctx) => (await server()).prompts(ctx),
    getPrompt: async (name, args, ctx) =>
      (await server()).request(ctx, (session, limit) => session.getPrompt(name, { ...args }, limit)),
  };
}
