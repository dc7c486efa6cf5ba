import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ReadonlyContext, Toolset } from '../../core/runtime.ts';
import { filteredToolset } from '../filtered-toolset.ts';
import { mcpOptions, type McpToolsetSpec } from './options.ts';
import { McpPrompt } from './prompts.ts';
import { McpResource } from './resources.ts';
import { usableName } from './server-tools.ts';
import { McpServer } from './server.ts';

/** The tools of an MCP server, and what else it has to offer. The latter throws McpToolsetException and its kin. */
export interface McpToolset extends Toolset {
  listResources(ctx: ReadonlyContext): Promise<readonly McpResource[]>;
  readResource(uri: string, ctx: ReadonlyContext): Promise<ReadResourceResult>;
  listPrompts(ctx: ReadonlyContext): Promise<readonly McpPrompt[]>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, ctx: ReadonlyContext): Promise<GetPromptResult>;
}

/**
 * Tools of an MCP server, over stdio, SSE or streamable HTTP. Nothing is started before the tools are first asked for;
 * `close` ends what was, and a later use starts it again. Throws ConfigurationException when the options make no sense.
 */
export function mcpToolset(spec: McpToolsetSpec): McpToolset {
  const options = mcpOptions(spec);
  const server = new McpServer(options);
  const { namePrefix: prefix, toolFilter } = options;
  const filter = typeof toolFilter === 'function' ? toolFilter : toolFilter?.map(usableName);
  const offered = filteredToolset(
    { kind: 'toolset', name: options.name, getTools: (ctx) => server.tools(ctx), close: () => server.close() },
    { ...(filter && { filter }), ...(prefix !== undefined && { prefix }) },
  );
  return {
    ...offered,
    isRemote: true,
    getTools: async (ctx) => [...(await offered.getTools(ctx)), ...(await server.extraTools(ctx))],
    listResources: (ctx) => server.list(ctx, 'resources', McpResource),
    readResource: (uri, ctx) => server.request(ctx, (session, limit) => session.readResource(uri, limit)),
    listPrompts: (ctx) => server.list(ctx, 'prompts', McpPrompt),
    getPrompt: (name, args, ctx) =>
      server.request(ctx, (session, limit) => session.getPrompt(name, { ...args }, limit)),
  };
}
