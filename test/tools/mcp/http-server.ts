import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Rpc {
  readonly method: string;
  readonly id?: number;
  readonly params?: { name?: string; arguments?: Record<string, unknown> };
}

export interface Seen {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
}

/** Answers a request itself, or leaves it to the double by giving `undefined`. */
export type Behaviour = (
  rpc: Rpc,
  response: ServerResponse,
  request: IncomingMessage,
) => object | 'handled' | undefined;

/** A streamable HTTP server that answers in JSON, as simple as one can be, and as badly as a test likes. */
export class HttpMcpServer {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly seen: Seen[] = [];
  /** Ids of sessions the server knows. */
  readonly sessions = new Set<string>();
  behaviour: Behaviour = () => undefined;
  #made = 0;

  static async start(behaviour?: Behaviour): Promise<HttpMcpServer> {
    const server = new HttpMcpServer();
    if (behaviour) server.behaviour = behaviour;
    await server.listen(0);
    return server;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve) => void this.#server.listen(port, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** How often a request of this method came. */
  count(method: string): number {
    return this.seen.filter((seen) => seen.method === method).length;
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    return closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = String(request.headers['mcp-session-id'] ?? '');
    if (request.method === 'DELETE') this.sessions.delete(session);
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const rpc = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as Rpc;
    this.seen.push({ method: rpc.method, headers: request.headers });
    const own = this.behaviour(rpc, response, request);
    if (own === 'handled') return;
    if (rpc.method !== 'initialize' && !this.sessions.has(session)) return void response.writeHead(404).end();
    if (rpc.id === undefined) return void response.writeHead(202).end();
    if (rpc.method === 'initialize') {
      this.sessions.add(`s${(this.#made += 1)}`);
      response.setHeader('mcp-session-id', `s${this.#made}`);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result: own ?? usual(rpc) }));
  }
}

function usual({ method, params }: Rpc): object {
  if (method === 'initialize') {
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'double', version: '1' } };
  }
  if (method === 'tools/list') return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] };
  return {};
}
