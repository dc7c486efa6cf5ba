import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An object in a local bucket. */
export interface KeptObject {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modified: Date;
}

export interface ObjectRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type ObjectHandler = (request: ObjectRequest, response: ServerResponse) => void;

/** A local server in the place of a cloud's object store; `objects` is what it keeps, by name, sorted when listed. */
export class ObjectStoreDouble {
  readonly objects = new Map<string, KeptObject>();
  /** Answers every request with this status while it is set. */
  outage: number | undefined;
  /** So many of the next requests of this method are carried out, and then the connection breaks. */
  readonly losing = { method: 'PUT', times: 0 };
  /** Requests it is true of get no answer, and objects that are read stop after half of their bytes. */
  stalls: ((request: string) => boolean) | undefined;
  /** `METHOD path?query` of each request. */
  readonly requests: string[] = [];
  readonly #server: Server;

  constructor(handle: (double: ObjectStoreDouble) => ObjectHandler) {
    const handler = handle(this);
    this.#server = createServer((message, response) => {
      void this.#serve(message, response, handler);
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  keep(name: string, bytes: Buffer, contentType: string, metadata: Readonly<Record<string, string>>): void {
    this.objects.set(name, { bytes, contentType, metadata, modified: new Date() });
  }

  /** Names with the prefix; with a delimiter, those that have none behind it. */
  names(prefix: string, delimiter: string | null): string[] {
    return [...this.objects.keys()]
      .filter((name) => name.startsWith(prefix))
      .filter((name) => !delimiter || !name.slice(prefix.length).includes(delimiter))
      .toSorted();
  }

  async #serve(message: IncomingMessage, response: ServerResponse, handler: ObjectHandler): Promise<void> {
    const chunks: Buffer[] = [];
    const isStalled = this.stalls?.(`${message.method} ${message.url}`);
    if (isStalled && message.method !== 'GET') return void this.requests.push(`${message.method} ${message.url}`);
    if (isStalled) {
      response.end = ((chunk: Buffer) => {
        response.write(chunk.subarray(0, chunk.length / 2));
        return response;
      }) as typeof response.end;
    }
    try {
      for await (const chunk of message) chunks.push(chunk as Buffer);
    } catch {
      return; // the client left in the middle of an upload, which then does not count
    }
    this.requests.push(`${message.method} ${message.url}`);
    if (this.outage !== undefined) return void response.writeHead(this.outage).end();
    if (message.method === this.losing.method && this.losing.times > 0) {
      this.losing.times -= 1;
      response.writeHead = () => {
        message.socket.resetAndDestroy();
        return response;
      };
    }
    const url = new URL(message.url ?? '/', this.url);
    handler({ method: message.method ?? '', url, headers: message.headers, body: Buffer.concat(chunks) }, response);
  }
}

/** Sends an object or the range of it that is asked for. */
export function sendBytes(
  response: ServerResponse,
  { bytes, contentType }: KeptObject,
  range: string | undefined,
  headers: Readonly<Record<string, string>>,
): void {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const start = Number(from ?? 0);
  if (from !== undefined && start >= bytes.length) return void response.writeHead(416).end();
  const piece = bytes.subarray(start, to ? Number(to) + 1 : undefined);
  const partial = { 'content-range': `bytes ${start}-${start + piece.length - 1}/${bytes.length}` };
  response.writeHead(from === undefined ? 200 : 206, {
    ...headers,
    ...(from !== undefined && partial),
    'content-type': contentType,
    'content-length': String(piece.length),
  });
  response.end(piece);
}
