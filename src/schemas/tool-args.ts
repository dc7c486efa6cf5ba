import { z } from 'zod';
import { AgentRef, CodeRef } from './agent-config.ts';
import { Flag } from './generate-content-config.ts';
import { anyCaseObject, anyCaseLooseObject } from './key-case.ts';

/** Arguments of an `AgentTool` entry. Go writes `skip_summarization` inside `agent`. */
export const AgentToolArgs = anyCaseObject({
  agent: AgentRef,
  skipSummarization: Flag.optional(),
  includePlugins: Flag.optional(),
});

/** Arguments of a `LongRunningFunctionTool` entry. */
export const LongRunningArgs = anyCaseObject({ func: CodeRef });

/** Arguments of an `ExampleTool` entry: sample conversations, or what finds some in the registry. */
export const ExampleToolArgs = anyCaseObject({
  examples: z.union([CodeRef, z.array(z.record(z.string(), z.unknown())), z.record(z.string(), z.unknown())]),
});

const headers = z.record(z.string(), z.string());
const units: readonly number[] = [86_400, 3600, 60, 1];

/** `PT1M30S`, as Java writes durations, in seconds. */
function isoSeconds(text: string): number | undefined {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text);
  if (!match || match[0].length < 3) return undefined;
  return units.reduce((total, unit, index) => total + unit * Number(match[index + 1] ?? 0), 0);
}

const daySeconds = 86_400;

/** The number that is written: itself, or in a text. */
function numberIn(value: unknown): unknown {
  return typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
}

/** A number of seconds, or an ISO 8601 duration. More than a day is milliseconds, which files for Java are written in. */
const seconds = z.preprocess(
  (value) => {
    const number = numberIn(value);
    if (typeof number === 'number') return number > daySeconds ? number / 1000 : number;
    return typeof value === 'string' ? (isoSeconds(value.trim()) ?? value) : value;
  },
  z.number({ error: 'must be a number of seconds, or a duration such as PT30S' }).positive().max(daySeconds),
);

/** Where, below the arguments of a tool, times stand that are taken for milliseconds. */
export function timesInMilliseconds(args: unknown): string[][] {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return [];
  return Object.entries(args).flatMap(([key, value]) => {
    const number = /timeout$/i.test(key) ? numberIn(value) : undefined;
    if (typeof number === 'number' && number > daySeconds) return [[key]];
    return timesInMilliseconds(value).map((path) => [key, ...path]);
  });
}

const StdioServer = anyCaseObject({
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
const Sse = anyCaseLooseObject({ ...remote, sseEndpoint: z.string().optional() });
const StreamableHttp = anyCaseLooseObject({ ...remote, terminateOnClose: Flag.optional() });

/**
 * Arguments of an `McpToolset` entry. Times are in seconds. `headerProvider` names a function of the registry; `timeout`
 * is that to connect, `sseReadTimeout` (or `callTimeout`) that of a call.
 */
export const McpToolsetArgs = anyCaseObject({
  stdioServerParams: StdioServer.optional(),
  stdioConnectionParams: anyCaseObject({ serverParams: StdioServer, timeout: seconds.optional() }).optional(),
  sseServerParams: Sse.optional(),
  sseConnectionParams: Sse.optional(),
  streamableHttpConnectionParams: StreamableHttp.optional(),
  name: z.string().min(1).optional(),
  toolFilter: z.array(z.string()).optional(),
  toolNamePrefix: z.string().optional(),
  toolListCacheTtlSeconds: z.number().nonnegative().optional(),
  useMcpResources: Flag.optional(),
  useMcpPrompts: Flag.optional(),
  requireConfirmation: Flag.optional(),
  elicitation: Flag.optional(),
  sampling: z.enum(['confirm', 'allow', 'deny']).optional(),
  headerProvider: CodeRef.optional(),
  callTimeout: seconds.optional(),
  listTimeout: seconds.optional(),
  authScheme: z.unknown().optional(),
  authCredential: z.unknown().optional(),
  credentialKey: z.string().optional(),
});
export type McpToolsetArgs = z.infer<typeof McpToolsetArgs>;
