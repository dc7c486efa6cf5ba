import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

type Json = Record<string, unknown>;

/** A message of the client to the Live API. */
export interface LiveClientMessage {
  readonly setup?: Json & { model?: string; generationConfig?: Json; sessionResumption?: { handle?: string } };
  readonly clientContent?: { turns?: { role?: string; parts: Json[] }[]; turnComplete?: boolean };
  readonly realtimeInput?: Json & { audio?: { mimeType: string; data: string } };
  readonly toolResponse?: { functionResponses: { id?: string; name: string; response: Json }[] };
}

/** Of the Developer API and of Vertex AI. */
const path =
  /^\/+ws\/google\.(?:ai\.generativelanguage\.v1\w*\.GenerativeService\.|cloud\.aiplatform\.v1\w*\.LlmBidiService\/)BidiGenerateContent$/;

interface DoubleOptions {
  /** Answers the handshake with this status instead of taking the connection. */
  readonly refuse?: number;
  /** Takes the connection and leaves the setup unanswered. */
  readonly ignoreSetup?: boolean;
}

/** A local server that speaks the Live API of Gemini. Point the SDK at `url` (`GOOGLE_GEMINI_BASE_URL`). */
export class LiveDouble {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly connections: LiveDoubleConnection[] = [];
  options: DoubleOptions = {};
  #look: (() => void) | undefined;

  private constructor() {
    const accept = new WebSocketServer({ noServer: true });
    this.#server = createServer((_request, response) => response.writeHead(404).end('{}'));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const url = new URL(request.url ?? '', 'http://double');
      const status = path.test(url.pathname) ? this.options.refuse : 404;
      if (status !== undefined) {
        socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`);
        return;
      }
      accept.handleUpgrade(request, socket, head, (client) => {
        this.connections.push(new LiveDoubleConnection(client, request, this.options));
        this.#look?.();
      });
    });
  }

  static async start(): Promise<LiveDouble> {
    const double = new LiveDouble();
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets the connections so far: a fresh start for the next test. */
  forget(): void {
    this.options = {};
    this.connections.length = 0;
  }

  /** The connection of this number, from 0, once it is there and has sent its setup. */
  async connection(index = 0): Promise<LiveDoubleConnection> {
    for (;;) {
      const found = this.connections[index];
      if (found) {
        await found.message(({ setup }) => setup !== undefined);
        return found;
      }
      await new Promise<void>((resolve) => (this.#look = resolve));
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** One connection of a client. */
export class LiveDoubleConnection {
  readonly socket: WebSocket;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly messages: LiveClientMessage[] = [];
  /** Resolves with the code the client closed with, or 1006. */
  readonly closed: Promise<number>;
  #isClosed = false;
  #look: (() => void) | undefined;

  constructor(socket: WebSocket, { url = '', headers }: IncomingMessage, { ignoreSetup = false }: DoubleOptions) {
    this.socket = socket;
    this.url = url;
    this.headers = headers;
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as LiveClientMessage;
      this.messages.push(message);
      if (message.setup && !ignoreSetup) this.send({ setupComplete: {} });
      this.#look?.();
    });
    socket.on('error', () => {}); // `closed` says it
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => {
        this.#isClosed = true;
        this.#look?.();
        resolve(code);
      });
    });
  }

  get setup(): NonNullable<LiveClientMessage['setup']> {
    return this.messages.find(({ setup }) => setup)?.setup ?? {};
  }

  /** All sound that came, joined. */
  get sound(): Buffer {
    const pieces = this.messages.flatMap(({ realtimeInput }) => realtimeInput?.audio ?? []);
    return Buffer.concat(pieces.map(({ data }) => Buffer.from(data, 'base64')));
  }

  /** The first message, from `since` on, that fits. Throws when the client leaves before. */
  async message(fits: (message: LiveClientMessage) => boolean, since = 0): Promise<LiveClientMessage> {
    for (;;) {
      const found = this.messages.slice(since).find(fits);
      if (found) return found;
      if (this.#isClosed) throw new Error(`The client left after ${JSON.stringify(this.messages)}`);
      await new Promise<void>((resolve) => (this.#look = resolve));
    }
  }

  /** Messages of ours, each in a frame of its own: binary, as Google sends them. */
  send(...messages: readonly object[]): void {
    for (const message of messages) this.socket.send(Buffer.from(JSON.stringify(message)));
  }

  /** What a model says in sound. */
  speak(data: Buffer): void {
    const inlineData = { mimeType: 'audio/pcm;rate=24000', data: data.toString('base64') };
    this.send({ serverContent: { modelTurn: { role: 'model', parts: [{ inlineData }] } } });
  }

  /** What a model says in text, as one turn. */
  say(...texts: readonly string[]): void {
    for (const text of texts) this.send({ serverContent: { modelTurn: { role: 'model', parts: [{ text }] } } });
    this.send({ serverContent: { generationComplete: true } }, { serverContent: { turnComplete: true } });
  }

  /** What a client asked last in a message. */
  asked(text: string, since = 0): Promise<LiveClientMessage> {
    return this.message(({ clientContent }) => JSON.stringify(clientContent ?? '').includes(text), since);
  }
}
