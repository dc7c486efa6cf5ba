import { z } from 'zod';
import { AgentRef, CodeRef } from './agent-config.ts';
import { Flag } from './generate-content-config.ts';
import { spelled, spelledOpen } from './spelled.ts';

/** Arguments of an `AgentTool` entry. Go writes `skip_summarization` inside `agent`. */
export const AgentToolArgs = spelled({
  agent: AgentRef,
  skipSummarization: Flag.optional(),
  includePlugins: Flag.optional(),
});

/** Arguments of a `LongRunningFunctionTool` entry. */
export const LongRunningArgs = spelled({ func: CodeRef });

/** Arguments of an `ExampleTool` entry: sample conversations, or what finds some in the registry. */
export const ExampleToolArgs = spelled({
  examples: z.union([CodeRef, z.array(z.record(z.string(), z.unknown())), z.record(z.string(), z.unknown())]),
});

const headers = z.record(z.string(), z.string());
const seconds = z.union([z.number().nonnegative(), z.string()]);
const StdioServer = spelled({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
});
const remote = {
  url: z.string().min(1),
  headers: headers.optional(),
  timeout: seconds.optional(),
  sseReadTimeout: seconds.optional(),
};
const Sse = spelledOpen({ ...remote, sseEndpoint: z.string().optional() });
const StreamableHttp = spelledOpen({ ...remote, terminateOnClose: Flag.optional() });

/** Arguments of an `McpToolset` entry. Times are in seconds. */
export const McpToolsetArgs = spelled({
  stdioServerParams: StdioServer.optional(),
  stdioConnectionParams: spelled({ serverParams: StdioServer, timeout: seconds.optional() }).optional(),
  sseServerParams: Sse.optional(),
  sseConnectionParams: Sse.optional(),
  streamableHttpConnectionParams: StreamableHttp.optional(),
  toolFilter: z.array(z.string()).optional(),
  toolNamePrefix: z.string().optional(),
  toolListCacheTtlSeconds: z.number().nonnegative().optional(),
  useMcpResources: Flag.optional(),
  authScheme: z.unknown().optional(),
  authCredential: z.unknown().optional(),
  credentialKey: z.string().optional(),
});
export type McpToolsetArgs = z.infer<typeof McpToolsetArgs>;
