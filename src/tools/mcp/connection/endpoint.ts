import { abortable } from '../../../base/abort.ts';
import { redact } from '../../../base/redact.ts';
import { withTimeLimit } from '../../time-limit.ts';
import { OpenRequests } from './open-requests.ts';
import type { Headers, McpHttpServer, McpOptions, McpProgram } from './options.ts';
import { WatchedTransport } from './watched-transport.ts';

/** A transport to a server, not started yet. */
export interface Endpoint {
  readonly transport: WatchedTransport;
  /** The end of the program's standard error; empty for servers over HTTP. */
  readonly stderrTail: () => string;
}

const tailLength = 2000;
const terminateMs = 1000;
/** Broken streams are resumed quickly or not at all, because a call waits for the response. */
const reconnectionOptions = {
  initialReconnectionDelay: 100,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

/** Creates the transport of one session. Loads the SDK on first use. */
export async function openEndpoint(
  { connection, publicOnly = false }: Pick<McpOptions, 'connection' | 'publicOnly'>,
  headers: Headers,
): Promise<Endpoint> {
  if ('stdio' in connection) return program(connection.stdio);
  if ('transport' in connection) return { transport: new WatchedTransport(await connection.transport()), stderrTail };
  const server = 'sse' in connection ? connection.sse : connection.streamableHttp;
  const requests = new OpenRequests(publicOnly ? [] : [server.url]);
  const setting = { headers, requests };
  const transport =
    'sse' in connection ? await eventSource(server, setting) : await streamable(connection.streamableHttp, setting);
  return { transport, stderrTail };
}

const stderrTail = (): string => '';

interface HttpSetting {
  readonly headers: Headers;
  readonly requests: OpenRequests;
}

async function eventSource({ url }: McpHttpServer, { headers, requests }: HttpSetting): Promise<WatchedTransport> {
  // Deprecated, but older servers support nothing else.
  const { SSEClientTransport, SseError } = await import('@modelcontextprotocol/client');
  const inner = new SSEClientTransport(new URL(url), { fetch: requests.fetch, requestInit: { headers } });
  return new WatchedTransport(inner, { isFatal: (error) => error instanceof SseError, cut: requests.abort });
}

async function streamable(
  { url, terminateOnClose = true }: McpHttpServer & { readonly terminateOnClose?: boolean },
  { headers, requests }: HttpSetting,
): Promise<WatchedTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const options = { fetch: requests.fetch, requestInit: { headers }, reconnectionOptions };
  const inner = new StreamableHTTPClientTransport(new URL(url), options);
  const terminate = async (): Promise<void> => {
    try {
      const limit = { signal: new AbortController().signal, ms: terminateMs, what: 'The server' };
      await withTimeLimit(limit, (signal) => abortable(inner.terminateSession(), signal));
    } catch {
      // We do not use the session again, even if the server keeps it.
    }
  };
  return new WatchedTransport(inner, { cut: requests.abort, ...(terminateOnClose && { beforeClose: terminate }) });
}

async function program(params: McpProgram): Promise<Endpoint> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { command, args = [], env, cwd } = params;
  const inner = new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  });
  let tail = '';
  inner.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-tailLength);
  });
  return { transport: new WatchedTransport(inner), stderrTail: () => redact(tail.trim()) };
}
