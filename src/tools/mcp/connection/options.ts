import type { Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import { lazily } from '../../../base/lazily.ts';
import type { MaybePromise, ReadonlyContext, ToolContext } from '../../../core/runtime.ts';
import type { AccessLimits } from '../../access-limits.ts';
import type { CredentialStore } from '../../auth/credential-store.ts';
import type { ToolFilter } from '../../filtered-toolset.ts';
import { parseOptions } from '../../options.ts';

export type Headers = Readonly<Record<string, string>>;

/** A server at a URL. Every request has these headers; those of the toolset's `headers` override them. */
export interface McpHttpServer {
  readonly url: string;
  readonly headers?: Headers;
}

/** A program that is started as a child process and talks over its standard input and output. */
export interface McpProgram {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to PATH, HOME and similar variables. The program gets no other variables of this server. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How to connect to the server: exactly one of these. */
export type McpConnectionSpec =
  | { readonly stdio: McpProgram }
  | { readonly sse: McpHttpServer }
  | { readonly streamableHttp: McpHttpServer & { readonly terminateOnClose?: boolean } }
  /** Any other transport, such as a linked pair in one process; called for each new session. */
  | { readonly transport: () => MaybePromise<Transport> };

export interface McpToolsetSpec extends AccessLimits {
  readonly connection: McpConnectionSpec;
  /** The server's name in messages and logs; default: its host, or its program. */
  readonly name?: string;
  /** Selects the server's tools: names with or without the prefix, or a predicate. Absent or empty: all. */
  readonly toolFilter?: ToolFilter;
  /** `files` makes `read` into `files_read`. */
  readonly namePrefix?: string;
  /** Additional headers, per run. Runs share an MCP session only if their headers are equal. */
  readonly headers?: (ctx: ReadonlyContext) => MaybePromise<Headers>;
  /** An ADK AuthConfig: `{ authScheme, rawAuthCredential?, credentialKey? }`. The credential is sent in headers. */
  readonly auth?: unknown;
  /** The store for granted credentials; default: in memory, for this toolset. */
  readonly store?: CredentialStore;
  /** Milliseconds; default 10 s to connect and to list, 60 s for a call. */
  readonly timeouts?: { readonly connectMs?: number; readonly callMs?: number; readonly listMs?: number };
  /** How long a list is cached, in milliseconds; default: until the server reports a change. */
  readonly listTtlMs?: number;
  /** Adds `load_mcp_resource`, with which the model reads the server's resources. */
  readonly resources?: boolean;
  /** Adds `load_mcp_prompt`, with which the model reads the server's prompts. */
  readonly prompts?: boolean;
  /** Whether the user has to confirm a tool before it runs; `tool` is its name at the server. */
  readonly requireConfirmation?:
    | boolean
    | ((tool: string, args: JsonObject, ctx: ToolContext) => MaybePromise<boolean>);
  /** Whether the server may ask the user questions while a tool runs. Default true. */
  readonly elicitation?: boolean;
  /** Whether the server may use the agent's model while a tool runs: after the user confirms (default), always, or never. */
  readonly sampling?: 'confirm' | 'allow' | 'deny';
}

/** The spec with defaults filled in. */
export interface McpOptions extends McpToolsetSpec {
  readonly name: string;
  readonly timeouts: { readonly connectMs: number; readonly callMs: number; readonly listMs: number };
  /** The runtime's time limit for a call: slightly longer than `callMs`, if the author set one. */
  readonly timeoutMs: number | undefined;
  readonly elicitation: boolean;
  readonly sampling: 'confirm' | 'allow' | 'deny';
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Valid header names and values. Messages name the header, never its value. */
export const headerMap = lazily(() =>
  z.record(z.string(), z.string()).superRefine((headers, ctx) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!headerName.test(name))
        ctx.addIssue({ code: 'custom', message: `${JSON.stringify(name)} is not a header name` });
      else if (/[\0\r\n]|[^\0-\xff]/.test(value)) {
        ctx.addIssue({ code: 'custom', message: `the value of "${name}" has characters that a header cannot have` });
      }
    }
  }),
);

const ways = ['stdio', 'sse', 'streamableHttp', 'transport'] as const;

const specSchema = lazily(() => {
  const url = z.string().superRefine((value, ctx) => {
    const parsed = URL.parse(value);
    if (!parsed || !/^https?:$/.test(parsed.protocol)) {
      ctx.addIssue({ code: 'custom', message: 'must be an address that starts with http:// or https://' });
    } else if (parsed.username !== '' || parsed.password !== '') {
      ctx.addIssue({ code: 'custom', message: 'must not hold a user name or password: send them as a header' });
    }
  });
  const headers = headerMap();
  const connection = z
    .strictObject({
      stdio: z
        .strictObject({
          command: z.string().min(1),
          args: z.array(z.string()).optional(),
          env: z.record(z.string(), z.string()).optional(),
          cwd: z.string().min(1).optional(),
        })
        .optional(),
      sse: z.strictObject({ url, headers: headers.optional() }).optional(),
      streamableHttp: z
        .strictObject({ url, headers: headers.optional(), terminateOnClose: z.boolean().optional() })
        .optional(),
      transport: z.custom(isFunction, 'must be a function').optional(),
    })
    .refine((given) => ways.filter((way) => given[way] !== undefined).length === 1, {
      message: `must be exactly one of ${ways.join(', ')}`,
    });
  const ms = z
    .number()
    .positive()
    .max(24 * 3_600_000);
  return z.strictObject({
    connection,
    name: z.string().min(1).optional(),
    toolFilter: z
      .union([z.array(z.string()), z.custom(isFunction)], 'must be a list of names, or a function')
      .optional(),
    namePrefix: z.string().optional(),
    headers: z.custom(isFunction, 'must be a function').optional(),
    auth: z.unknown().optional(),
    store: z.unknown().optional(),
    publicOnly: z.boolean().optional(),
    machineCredential: z.enum(['anywhere', 'google', 'nowhere']).optional(),
    timeouts: z.strictObject({ connectMs: ms.optional(), callMs: ms.optional(), listMs: ms.optional() }).optional(),
    listTtlMs: z.number().nonnegative().optional(),
    resources: z.boolean().optional(),
    prompts: z.boolean().optional(),
    requireConfirmation: z.union([z.boolean(), z.custom(isFunction)], 'must be true, false or a function').optional(),
    elicitation: z.boolean().optional(),
    sampling: z.enum(['confirm', 'allow', 'deny']).optional(),
  });
});

/** Validates a spec and fills in defaults. Throws ConfigurationException. */
export function mcpOptions(spec: McpToolsetSpec): McpOptions {
  parseOptions('mcpToolset', specSchema(), spec);
  const { connection, name, namePrefix, timeouts = {}, elicitation = true, sampling = 'confirm' } = spec;
  const { connectMs = 10_000, callMs = 60_000, listMs = 10_000 } = timeouts;
  return {
    ...spec,
    name: name ?? (namePrefix || labelOf(connection)),
    timeouts: { connectMs, callMs, listMs },
    timeoutMs: timeouts.callMs === undefined ? undefined : callMs + connectMs + 1000,
    elicitation,
    sampling,
  };
}

const launchers = new Set(['npx', 'node', 'bun', 'bunx', 'deno', 'python', 'python3', 'uv', 'uvx', 'docker']);

/** The name of a server whose spec has none. Without path and query, which may be secrets. */
function labelOf(connection: McpConnectionSpec): string {
  if ('sse' in connection) return new URL(connection.sse.url).host;
  if ('streamableHttp' in connection) return new URL(connection.streamableHttp.url).host;
  if ('transport' in connection) return 'mcp';
  const { command, args = [] } = connection.stdio;
  const program = basename(command);
  const what = launchers.has(program) ? args.find((arg) => !arg.startsWith('-')) : undefined;
  return what === undefined ? program : `${program} ${basename(what)}`;
}

/** Replaces characters that models do not accept in names: `files/read` becomes `files_read`. */
export function usableName(name: string): string {
  const allowed = name.replaceAll(/[^\w.:-]/g, '_');
  return /^[A-Za-z_]/.test(allowed) ? allowed : `_${allowed}`;
}

/** The last part of a path. */
const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
