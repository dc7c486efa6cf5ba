import { InMemoryTransport, Server, type ServerCapabilities } from '@modelcontextprotocol/server';
import type { McpConnectionSpec } from '../../../src/tools/mcp/connection/options.ts';

type CallResult = { content: object[]; structuredContent?: unknown; isError?: boolean };

export interface ToolHandlers {
  list(cursor: string | undefined): { tools: object[]; nextCursor?: string } | Promise<{ tools: object[] }>;
  call?(name: string, args: Record<string, unknown>, server: Server, signal: AbortSignal): Promise<CallResult>;
}

/** Lets a server list and run tools; both may be as wrong as they like. */
export function setTools(server: Server, handlers: ToolHandlers): void {
  server.setRequestHandler('tools/list', async ({ params }) => (await handlers.list(params?.cursor)) as never);
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const { name, arguments: args = {} } = params;
    return (await handlers.call?.(name, args, server, ctx.mcpReq.signal)) as never;
  });
}

export interface LinkedServer {
  readonly connection: McpConnectionSpec;
  /** The server's side of every session so far. */
  readonly sessions: Server[];
}

/** An MCP server in this process: each session is a linked pair and a server of its own. */
export function linkedServer(
  setup: (server: Server) => void,
  capabilities: ServerCapabilities = { tools: { listChanged: true } },
): LinkedServer {
  const sessions: Server[] = [];
  const transport = async (): Promise<InMemoryTransport> => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const server = new Server({ name: 'linked', version: '1.0.0' }, { capabilities });
    setup(server);
    sessions.push(server);
    await server.connect(theirs);
    return ours;
  };
  return { connection: { transport }, sessions };
}

export const tool = (name: string, fields: object = {}): object => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: {} },
  ...fields,
});

export const text = (value: string): CallResult => ({ content: [{ type: 'text', text: value }] });
