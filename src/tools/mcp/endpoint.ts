import { abortable } from '../../base/abort.ts';
import { redact } from '../../base/redact.ts';
import { withTimeLimit } from '../time-limit.ts';
import { OpenRequests } from './open-requests.ts';
import type { Headers, McpHttpServer, McpOptions, McpProgram } from './options.ts';
import { WatchedTransport } from './watched-transport.ts';

/** A way to a server, about to be used. */
export interface Endpoint {
  readonly transport: WatchedTransport;
  /** What the program said last on its standard error; empty for servers that are no program of ours. */
  readonly stderrTail: () => string;
}

const tailLength = 2000;
const terminateMs = 1000;
/** Streams that broke off are taken up again quickly or not at all: somebody waits for the answer. */
const reconnectionOptions = {
  initialReconnectionDelay: 100,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

/** A transport for one session. The SDK is loaded here, on first use. */
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
  // Deprecated, but older servers speak nothing else.
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
      // The session is of no more use to us, whatever the server thinks of it.
    }
  };
  return new WatchedTransport(inner, { cut: requests.abort, ...(terminateOnClose && { farewell: terminate }) });
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
