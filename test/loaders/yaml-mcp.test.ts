import { afterEach, expect, it } from 'vitest';
import type { Toolset } from '../../src/core/runtime.ts';
import { mcpSpec } from '../../src/loaders/yaml/mcp-spec.ts';
import { Registry } from '../../src/loaders/yaml/registry.ts';
import { McpToolsetArgs } from '../../src/schemas/tool-args.ts';
import type { McpToolsetSpec } from '../../src/tools/mcp/connection/options.ts';
import { toolContext } from '../tools/contexts.ts';
import { HttpMcpServer } from '../tools/mcp/http-server.ts';
import { agentsDir, yamlAgent } from './agents-dir.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const exported = { headers: () => ({ 'x-user': 'ann' }) };
const specOf = (args: object): McpToolsetSpec =>
  mcpSpec(McpToolsetArgs.parse(args), new Registry('/app', 'registry.ts', exported));

it.each([
  [
    { stdio_server_params: { command: 'x', args: ['-v'], env: { SOME_KEY: '1' } } },
    { stdio: { command: 'x', args: ['-v'], env: { SOME_KEY: '1' } } },
  ],
  [{ stdio_connection_params: { server_params: { command: 'x' }, timeout: 3 } }, { stdio: { command: 'x' } }],
  [{ sse_server_params: { url: 'http://h:1' } }, { sse: { url: 'http://h:1/sse' } }],
  [{ sse_server_params: { url: 'http://h:1/events' } }, { sse: { url: 'http://h:1/events' } }],
  [{ sse_server_params: { url: 'http://h:1/a', sse_endpoint: 'feed' } }, { sse: { url: 'http://h:1/a/feed' } }],
  [
    { sseConnectionParams: { url: 'http://h:1', headers: { 'X-My_Key': 'a' } } },
    { sse: { url: 'http://h:1', headers: { 'X-My_Key': 'a' } } },
  ],
  [
    { streamable_http_connection_params: { url: 'http://h/mcp', terminate_on_close: false } },
    { streamableHttp: { url: 'http://h/mcp', terminateOnClose: false } },
  ],
])('reads the connection of %j', (args, connection) => {
  expect(specOf(args).connection).toEqual(connection);
});

it('reads times in seconds, as numbers and as durations', () => {
  const timesOf = (params: object, more: object = {}): unknown =>
    specOf({ streamable_http_connection_params: { url: 'http://h', ...params }, ...more }).timeouts;

  expect(timesOf({})).toEqual({});
  expect(timesOf({ timeout: 2.5, sse_read_timeout: 300 })).toEqual({ connectMs: 2500, callMs: 300_000 });
  expect(timesOf({ timeout: 'PT1M30S' }, { call_timeout: '7', list_timeout: 'PT5S' })).toEqual({
    connectMs: 90_000,
    callMs: 7000,
    listMs: 5000,
  });
});

it('reads everything else an entry may say', () => {
  const spec = specOf({
    sse_connection_params: { url: 'http://h' },
    name: 'mail',
    tool_filter: ['read'],
    tool_name_prefix: 'm',
    tool_list_cache_ttl_seconds: 5,
    use_mcp_resources: true,
    use_mcp_prompts: true,
    require_confirmation: true,
    elicitation: false,
    sampling: 'deny',
    header_provider: 'headers',
    auth_scheme: { type: 'http', scheme: 'bearer' },
    auth_credential: { auth_type: 'http', http: { scheme: 'bearer', credentials: { token: 't' } } },
    credential_key: 'k',
  });

  expect(spec).toEqual({
    connection: { sse: { url: 'http://h' } },
    timeouts: {},
    name: 'mail',
    toolFilter: ['read'],
    namePrefix: 'm',
    listTtlMs: 5000,
    resources: true,
    prompts: true,
    requireConfirmation: true,
    elicitation: false,
    sampling: 'deny',
    headers: exported.headers,
    auth: {
      authScheme: { type: 'http', scheme: 'bearer' },
      rawAuthCredential: { auth_type: 'http', http: { scheme: 'bearer', credentials: { token: 't' } } },
      credentialKey: 'k',
    },
  });
});

it.each([
  {},
  { tool_filter: ['x'] },
  { sse_server_params: { url: 'http://a' }, stdio_server_params: { command: 'x' } },
])('wants exactly one connection, not %j', (args) => {
  expect(() => specOf(args)).toThrow(/exactly one of stdio_server_params/);
});

it('serves a YAML agent whose entry names a server, with headers from its registry', async () => {
  const server = await HttpMcpServer.start();
  closing.push(() => server.close());
  const dir = agentsDir({
    'app/root_agent.yaml': yamlAgent(
      'app',
      `tools:
  - name: google.adk.tools.McpToolset
    args:
      streamable_http_connection_params: { url: "${server.url}" }
      header_provider: app.registry.userHeaders
      tool_name_prefix: far
`,
    ),
    'app/registry.ts': `export const userHeaders = ({ session }) => ({ 'x-user': session.userId });\n`,
  });
  const { rootAgent } = await dir.load().loadAgent('app');

  const tools = await (rootAgent.tools![0] as Toolset).getTools(toolContext().run);

  expect(tools.map(({ name }) => name)).toEqual(['far_echo']);
  expect(new Set(server.seen.map(({ headers }) => headers['x-user']))).toEqual(new Set(['ada']));
});

it('loads an app that names a program, and refuses to start it unless that is allowed, saying where it is', async () => {
  const tools = 'tools:\n  - name: McpToolset\n    args:\n      stdio_server_params: { command: mcp-none }\n';
  const dir = agentsDir({ 'app/root_agent.yaml': yamlAgent('app', tools) });
  const toolsOf = async (allowStdioMcp: boolean): Promise<readonly unknown[]> => {
    const { rootAgent } = await dir.load({ allowStdioMcp }).loadAgent('app');
    return (rootAgent.tools![0] as Toolset).getTools(toolContext().run);
  };

  await expect(toolsOf(false)).rejects.toThrow(/^app\/root_agent\.yaml:4:\d+: an MCP server over stdio is a program/);
  await expect(toolsOf(true)).rejects.toThrow('could not be started (ENOENT)');
});

it('takes a time of more than a day for milliseconds, as files for Java have it, and warns', async () => {
  const server = '{ url: "http://h:1", sse_read_timeout: 300000, timeout: 30 }';
  const tools = `tools: [{ name: McpToolset, args: { sse_server_params: ${server} } }]\n`;
  const { load } = agentsDir({ 'app/root_agent.yaml': yamlAgent('app', tools) });
  const warnings: string[] = [];

  await load({ warn: (text) => warnings.push(text) }).loadAgent('app');

  expect(warnings).toEqual([
    expect.stringMatching(/^app\/root_agent\.yaml:3:\d+: "sse_read_timeout" looks like milliseconds/),
  ]);
  expect(specOf({ sse_server_params: { url: 'http://h', sseReadTimeout: '300000' } }).timeouts).toEqual({
    callMs: 300_000,
  });
  expect(() => specOf({ sse_server_params: { url: 'http://h', timeout: 9e7 } })).toThrow(/86400/);
});
