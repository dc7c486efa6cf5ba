import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { failureBody, responseBodies, type GeminiFailure, type GeminiReply } from './gemini-replies.ts';
import type { GeminiBody } from './gemini-request.ts';
import { wireFaults } from './gemini-wire-rules.ts';

/** One model call as the double received it. */
export interface GeminiRequest {
  /** Counts from 0 since the start or the last `forget`. */
  readonly index: number;
  readonly path: string;
  readonly model: string;
  readonly streaming: boolean;
  readonly headers: IncomingMessage['headers'];
  readonly body: GeminiBody;
  /** Milliseconds of the wall clock. */
  readonly at: number;
  /** What the real API would have refused; such a request is answered 400 unless the double is lenient. */
  readonly faults: readonly string[];
  /** True once the client closed the connection before the answer was complete. */
  clientLeft: boolean;
  /** Resolves when the connection is done, by either side. */
  readonly closed: Promise<void>;
}

/** Decides the answer to a request; a string is a text answer. */
export type GeminiHandler = (request: GeminiRequest) => GeminiReply | string | Promise<GeminiReply | string>;

const route = /^\/(?:v1|v1beta)\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const unanswered: GeminiHandler = () => ({ failure: { status: 500, message: 'The double has no handler.' } });

/**
 * A local server that speaks Gemini's REST wire. Point the SDK at `url` (`GOOGLE_GEMINI_BASE_URL`), say with
 * `answer` what it replies, and read in `requests` what the model was sent.
 */
export class GeminiDouble {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #leaving = new AbortController();
  readonly #waiting: { count: number; resolve: () => void }[] = [];
  /** The requests whose connection the double itself broke. */
  readonly #brokenByUs = new WeakSet<GeminiRequest>();
  readonly #lenient: boolean;
  #handler: GeminiHandler = unanswered;
  #requests: GeminiRequest[] = [];

  private constructor(lenient: boolean) {
    this.#lenient = lenient;
    this.#server = createServer((message, response) => {
      // A peer that resets the connection is what some tests are about; the record already says so.
      this.#serve(message, response).catch(() => message.socket.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Listens on a free port of the loopback address. `lenient` answers requests that the real API would refuse. */
  static async start(options: { lenient?: boolean } = {}): Promise<GeminiDouble> {
    const double = new GeminiDouble(options.lenient ?? false);
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Every request so far, oldest first. */
  get requests(): readonly GeminiRequest[] {
    return this.#requests;
  }

  /** The JSON bodies of `requests`. */
  get bodies(): readonly GeminiBody[] {
    return this.#requests.map((request) => request.body);
  }

  /** Answers every request from now on by this handler. */
  answer(handler: GeminiHandler): void {
    this.#handler = handler;
  }

  /** Answers the next requests by these replies in order; one request more is a 500. Not for parallel callers. */
  answerInTurn(...replies: readonly (GeminiReply | string)[]): void {
    const rest = [...replies];
    this.#handler = (request) => rest.shift() ?? unanswered(request);
  }

  /** Forgets the requests and the handler: a fresh start for the next test. */
  forget(): void {
    this.#requests = [];
    this.#handler = unanswered;
  }

  /** Resolves once `count` requests have arrived since the last `forget`. */
  async received(count: number): Promise<void> {
    if (this.#requests.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    await promise;
  }

  /** Ends every connection, also those that stall, and stops listening. */
  async close(): Promise<void> {
    this.#leaving.abort();
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of message) pieces.push(piece as Buffer);
    const path = message.url ?? '/';
    const match = route.exec(new URL(path, this.url).pathname);
    if (message.method !== 'POST' || !match) return fail(response, { status: 404, message: `No method at ${path}` });
    const request = this.#record(message, response, {
      model: decodeURIComponent(match[1]!),
      streaming: match[2] === 'streamGenerateContent',
      body: JSON.parse(Buffer.concat(pieces).toString('utf8')) as GeminiBody,
    });
    if (request.faults.length > 0 && !this.#lenient) {
      return fail(response, { status: 400, message: request.faults.join('\n') });
    }
    const answer = await this.#handler(request);
    await this.#send(response, request, typeof answer === 'string' ? { text: answer } : answer);
  }

  #record(
    message: IncomingMessage,
    response: ServerResponse,
    call: Pick<GeminiRequest, 'model' | 'streaming' | 'body'>,
  ): GeminiRequest {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const request: GeminiRequest = {
      ...call,
      index: this.#requests.length,
      path: message.url ?? '/',
      headers: message.headers,
      at: Date.now(),
      faults: wireFaults(call.body),
      clientLeft: false,
      closed,
    };
    response.once('close', () => {
      request.clientLeft =
        !response.writableFinished && !this.#leaving.signal.aborted && !this.#brokenByUs.has(request);
      resolve();
    });
    this.#requests.push(request);
    for (const waiter of this.#waiting) if (this.#requests.length >= waiter.count) waiter.resolve();
    return request;
  }

  async #send(response: ServerResponse, request: GeminiRequest, reply: GeminiReply): Promise<void> {
    await reply.after;
    const breaks = reply.broken ?? reply.brokenAtOnce;
    if (breaks !== undefined && breaks !== 'stall') this.#brokenByUs.add(request);
    if (reply.brokenAtOnce === 'reset') return void response.socket?.destroy();
    if (reply.brokenAtOnce === 'stall') return request.closed;
    await this.#pause(reply);
    if (reply.failure) return fail(response, reply.failure);
    const bodies = responseBodies(reply, request.model, request.streaming);
    if (!request.streaming) return this.#sendUnary(response, request, reply, bodies[0]!);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [at, body] of bodies.entries()) {
      if (at > 0) await this.#pause(reply);
      if (at > 0) await reply.pause;
      response.write(frame(body));
      if (reply.broken === 'cut') return void response.end(frame(body).slice(0, -20));
      if (reply.broken) return breakOff(response, request, reply.broken);
    }
    if (reply.failureInStream) response.write(frame(failureBody(reply.failureInStream)));
    response.end();
  }

  async #sendUnary(
    response: ServerResponse,
    request: GeminiRequest,
    reply: GeminiReply,
    body: Record<string, unknown>,
  ): Promise<void> {
    const text = JSON.stringify(body, null, 2);
    response.writeHead(200, {
      'content-type': 'application/json; charset=UTF-8',
      'content-length': Buffer.byteLength(text),
    });
    if (!reply.broken) return void response.end(text);
    response.write(text.slice(0, text.length / 2));
    await breakOff(response, request, reply.broken === 'cut' ? 'half-close' : reply.broken);
  }

  async #pause(reply: GeminiReply): Promise<void> {
    if (reply.delayMs) await sleep(reply.delayMs, undefined, { signal: this.#leaving.signal });
  }
}

/** A frame as Google sends it: CRLF line ends. */
const frame = (body: Record<string, unknown>): string => `data: ${JSON.stringify(body)}\r\n\r\n`;

function fail(response: ServerResponse, failure: GeminiFailure): void {
  const retry = failure.retryAfter === undefined ? {} : { 'retry-after': String(failure.retryAfter) };
  response.writeHead(failure.status, { 'content-type': 'application/json; charset=UTF-8', ...retry });
  response.end(JSON.stringify(failureBody(failure), null, 2));
}

/** Leaves a begun answer in the state asked for, until the connection is done. */
async function breakOff(
  response: ServerResponse,
  request: GeminiRequest,
  how: 'reset' | 'half-close' | 'stall',
): Promise<void> {
  if (how === 'reset') response.socket?.resetAndDestroy();
  if (how === 'half-close') response.socket?.end();
  await request.closed;
}
