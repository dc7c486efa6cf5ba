import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One request as the double received it; `body` is its JSON. */
export interface DoubleRequest<Body> {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
  /** True once the client closed the connection before the answer was complete. */
  clientLeft: boolean;
  /** Resolves when the connection is done, by either side. */
  readonly closed: Promise<void>;
}

/** What is sent back: one JSON body, or the texts of a stream as they are to be written. */
export interface DoubleReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly sse?: readonly string[];
  /** How the connection misbehaves: after the first text of a stream, or before anything else. */
  readonly broken?: 'end' | 'reset' | 'half-close' | 'stall';
}

export type DoubleHandler<Body> = (request: DoubleRequest<Body>) => DoubleReply | Promise<DoubleReply>;

/** A local server in the place of a model provider. */
export class HttpDouble<Body> {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  #handler: DoubleHandler<Body> = () => ({ status: 500, json: { error: { message: 'The double has no handler.' } } });
  #requests: DoubleRequest<Body>[] = [];

  private constructor() {
    this.#server = createServer((message, response) => {
      // A peer that resets the connection is what some tests are about; the record already says so.
      this.#serve(message, response).catch(() => message.socket.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start<Body>(): Promise<HttpDouble<Body>> {
    const double = new HttpDouble<Body>();
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get requests(): readonly DoubleRequest<Body>[] {
    return this.#requests;
  }

  answer(handler: DoubleHandler<Body>): void {
    this.#handler = handler;
  }

  /** Answers the next requests by these replies in order; one request more is a 500. */
  answerInTurn(...replies: readonly DoubleReply[]): void {
    const rest = [...replies];
    this.#handler = () => rest.shift() ?? { status: 500 };
  }

  forget(): void {
    this.#requests = [];
  }

  /** Resolves once `count` requests have arrived since the last `forget`. */
  async received(count: number): Promise<void> {
    if (this.#requests.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    await promise;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of message) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const request: DoubleRequest<Body> = {
      method: message.method ?? '',
      path: message.url ?? '',
      headers: message.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
      clientLeft: false,
      closed,
    };
    let left = false;
    response.once('close', () => {
      request.clientLeft = !response.writableFinished && !left;
      resolve();
    });
    this.#requests.push(request);
    for (const waiter of this.#waiting) if (this.#requests.length >= waiter.count) waiter.resolve();

    const reply = await this.#handler(request);
    left = reply.broken !== undefined && reply.broken !== 'stall';
    if (reply.sse) {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
      for (const [at, frame] of reply.sse.entries()) {
        response.write(frame);
        if (reply.broken && at === 0) return breakOff(response, request, reply.broken);
      }
      response.end();
      return;
    }
    if (reply.broken) return breakOff(response, request, reply.broken);
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify(reply.json ?? {}));
  }
}

async function breakOff(
  response: ServerResponse,
  request: { closed: Promise<void> },
  how: NonNullable<DoubleReply['broken']>,
): Promise<void> {
  if (how === 'end') response.end();
  if (how === 'reset') response.socket?.resetAndDestroy();
  if (how === 'half-close') response.socket?.end();
  await request.closed;
}
