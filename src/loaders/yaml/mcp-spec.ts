import { AppError } from '../../base/errors.ts';
import type { McpToolsetArgs } from '../../schemas/tool-args.ts';
import type { McpConnectionSpec, McpToolsetSpec } from '../../tools/mcp/connection/options.ts';
import type { Registry } from './registry.ts';

type HeaderProvider = NonNullable<McpToolsetSpec['headers']>;

/** The options of an MCP toolset from the args of a YAML entry. Throws ConfigurationException. */
export function mcpSpec(args: McpToolsetArgs, registry: Registry): McpToolsetSpec {
  const { connection, connect, read } = connectionOf(args);
  const { name, toolFilter, toolNamePrefix, toolListCacheTtlSeconds: ttl, headerProvider } = args;
  const { authScheme, authCredential, credentialKey, elicitation, sampling, requireConfirmation } = args;
  const call = args.callTimeout ?? read;
  const timeouts = {
    ...(connect !== undefined && { connectMs: connect * 1000 }),
    ...(call !== undefined && { callMs: call * 1000 }),
    ...(args.listTimeout !== undefined && { listMs: args.listTimeout * 1000 }),
  };
  const auth = { authScheme, rawAuthCredential: authCredential, ...(credentialKey !== undefined && { credentialKey }) };
  return {
    connection,
    timeouts,
    ...(name !== undefined && { name }),
    ...(toolFilter && { toolFilter }),
    ...(toolNamePrefix !== undefined && { namePrefix: toolNamePrefix }),
    ...(ttl !== undefined && { listTtlMs: ttl * 1000 }),
    ...(headerProvider && { headers: providerOf(registry, headerProvider.name) }),
    ...(authScheme !== undefined && { auth }),
    ...(args.useMcpResources !== undefined && { resources: args.useMcpResources }),
    ...(args.useMcpPrompts !== undefined && { prompts: args.useMcpPrompts }),
    ...(requireConfirmation !== undefined && { requireConfirmation }),
    ...(elicitation !== undefined && { elicitation }),
    ...(sampling !== undefined && { sampling }),
  };
}

/** The error for a YAML file that starts a program without permission of the operator. */
export const stdioRefusal =
  'an MCP server over stdio is a program on this machine, which YAML may not start unless the server is run with ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS=1 (or --allow-config-stdio-mcp-servers)';

interface ConnectionArgs {
  readonly connection: McpConnectionSpec;
  /** Seconds to connect, and to wait for a response. */
  readonly connect?: number | undefined;
  readonly read?: number | undefined;
}

const blocks = [
  'stdio_server_params',
  'stdio_connection_params',
  'sse_server_params',
  'sse_connection_params',
  'streamable_http_connection_params',
];

function connectionOf(args: McpToolsetArgs): ConnectionArgs {
  const { stdioServerParams, stdioConnectionParams, sseServerParams, sseConnectionParams } = args;
  const streamable = args.streamableHttpConnectionParams;
  const found: ConnectionArgs[] = [];
  if (stdioServerParams) found.push({ connection: { stdio: stdioServerParams } });
  if (stdioConnectionParams) {
    found.push({ connection: { stdio: stdioConnectionParams.serverParams }, connect: stdioConnectionParams.timeout });
  }
  for (const params of [sseServerParams, sseConnectionParams]) {
    if (!params) continue;
    const { headers, timeout: connect, sseReadTimeout: read } = params;
    const url = params === sseServerParams || params.sseEndpoint !== undefined ? sseAddress(params) : params.url;
    found.push({ connection: { sse: { url, ...(headers && { headers }) } }, connect, read });
  }
  if (streamable) {
    const { url, headers, terminateOnClose, timeout: connect, sseReadTimeout: read } = streamable;
    const server = { url, ...(headers && { headers }), ...(terminateOnClose !== undefined && { terminateOnClose }) };
    found.push({ connection: { streamableHttp: server }, connect, read });
  }
  const [way] = found;
  if (way && found.length === 1) return way;
  throw new AppError('ConfigurationException', `needs exactly one of ${blocks.join(', ')}`);
}

/** ADK for Java separates the server's URL from the endpoint; the default endpoint is "sse". */
function sseAddress({ url, sseEndpoint }: { url: string; sseEndpoint?: string | undefined }): string {
  if (!URL.canParse(url)) return url;
  const base = new URL(url);
  if (sseEndpoint !== undefined) return new URL(sseEndpoint, base.href.endsWith('/') ? base : `${base.href}/`).href;
  return base.pathname === '/' ? new URL('sse', base).href : url;
}

function providerOf(registry: Registry, name: string): HeaderProvider {
  const found = registry.get(name, 'header provider');
  // The headers are checked on use.
  if (typeof found === 'function') return found as HeaderProvider;
  throw new AppError('ConfigurationException', `"${name}" is not a function that gives headers`);
}
