import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { AgentCard, Message, StreamResponse } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import type { A2aMessage, A2aUpdate } from '../../src/a2a/wire.ts';

/** What the agent of the server is asked, and where it says what it has to say. */
export interface A2aTurn {
  readonly taskId: string;
  readonly contextId: string;
  readonly message: A2aMessage;
  /** Publishes an update; the ids of task and context are added. */
  readonly say: (update: A2aUpdate) => void;
  readonly status: (state: string, message?: Partial<A2aMessage>) => void;
}

export interface A2aServerOptions {
  readonly version?: '1.0' | '0.3';
  readonly streaming?: boolean;
  readonly card?: object;
  run(turn: A2aTurn): void | Promise<void>;
}

/** A real A2A server, made of the SDK's own parts, with an agent that is a function. */
export class A2aServer {
  /** Headers of all requests, the card's included. */
  readonly headers: IncomingMessage['headers'][] = [];
  readonly methods: string[] = [];
  readonly cancelled: string[] = [];
  readonly #server = createServer((request, response) => {
    // A connection that broke, or an agent that did: the client finds out.
    this.#serve(request, response).catch(() => request.socket.destroy());
  });
  readonly #sockets = new Set<Socket>();
  readonly #options: A2aServerOptions;
  #handler: JsonRpcTransportHandler | LegacyJsonRpcTransportHandler | undefined;

  private constructor(options: A2aServerOptions) {
    this.#options = options;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  static async start(options: A2aServerOptions): Promise<A2aServer> {
    const server = new A2aServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    const executor = {
      execute: ({ taskId, contextId, userMessage }: Asked, bus: ExecutionEventBus) =>
        server.#run(taskId, contextId, Message.toJSON(userMessage) as A2aMessage, bus),
      cancelTask: async (taskId: string, bus: ExecutionEventBus) => {
        server.cancelled.push(taskId);
        bus.publish(eventOf({ statusUpdate: { taskId, contextId: '', status: { state: 'TASK_STATE_CANCELED' } } }));
        bus.finished();
      },
    };
    const card = AgentCard.fromJSON(server.#coreCard());
    const requests = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
    server.#handler =
      options.version === '0.3' ? new LegacyJsonRpcTransportHandler(requests) : new JsonRpcTransportHandler(requests);
    return server;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** The card as the server hands it out. */
  get card(): object {
    const { version, streaming = true, card } = this.#options;
    if (version !== '0.3') return { ...this.#coreCard(), ...card };
    return {
      protocolVersion: '0.3.0',
      name: 'far',
      description: 'An agent far away',
      version: '1',
      url: `${this.url}/rpc`,
      preferredTransport: 'JSONRPC',
      capabilities: { streaming },
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      skills: [],
      ...card,
    };
  }

  #coreCard(): object {
    const { version = '1.0', streaming = true } = this.#options;
    return {
      name: 'far',
      description: 'An agent far away',
      version: '1',
      supportedInterfaces: [{ url: `${this.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: version }],
      capabilities: { streaming },
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      skills: [],
    };
  }

  async #run(taskId: string, contextId: string, message: A2aMessage, bus: ExecutionEventBus): Promise<void> {
    const say = (update: A2aUpdate): void => bus.publish(eventOf(placed(update, { taskId, contextId })));
    await this.#options.run({
      taskId,
      contextId,
      message,
      say,
      status: (state, told) => {
        const spoken = told && { message: { messageId: 'status', role: 'ROLE_AGENT' as const, ...told } };
        say({ statusUpdate: { status: { state: `TASK_STATE_${state}`, ...spoken } } });
      },
    });
    bus.finished();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers);
    if (request.method === 'GET') {
      response.writeHead(request.url === '/.well-known/agent-card.json' ? 200 : 404, {
        'content-type': 'application/json',
      });
      response.end(JSON.stringify(this.card));
      return;
    }
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    this.methods.push(String(body['method']));
    const context = new ServerCallContext({ requestedVersion: this.#options.version ?? '1.0' });
    const answer = await this.#handler?.handle(body, context);
    if (!answer || !(Symbol.asyncIterator in answer)) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for await (const frame of answer) response.write(`data: ${JSON.stringify(frame)}\n\n`);
    response.end();
  }
}

interface Asked {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: Message;
}

function placed(update: A2aUpdate, ids: { taskId: string; contextId: string }): A2aUpdate {
  const { task, statusUpdate, artifactUpdate, message } = update;
  if (task) return { task: { id: ids.taskId, contextId: ids.contextId, ...task } };
  if (statusUpdate) return { statusUpdate: { ...statusUpdate, ...ids } };
  if (artifactUpdate) return { artifactUpdate: { ...artifactUpdate, ...ids } };
  return message ? { message: { ...message, contextId: ids.contextId } } : update;
}

function eventOf(update: A2aUpdate) {
  const { payload } = StreamResponse.fromJSON(update);
  if (payload?.$case === 'task') return AgentEvent.task(payload.value);
  if (payload?.$case === 'statusUpdate') return AgentEvent.statusUpdate(payload.value);
  if (payload?.$case === 'artifactUpdate') return AgentEvent.artifactUpdate(payload.value);
  if (payload?.$case === 'message') return AgentEvent.message(payload.value);
  throw new Error('An update must say something');
}
