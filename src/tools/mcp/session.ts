import type {
  CallToolResult,
  Client,
  ClientCapabilities,
  GetPromptResult,
  Implementation,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { abortable } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { withTimeLimit } from '../time-limit.ts';
import { ActiveCalls } from './active-calls.ts';
import { type Endpoint, openEndpoint } from './endpoint.ts';
import { failureOf } from './failure-kinds.ts';
import type { Headers, McpOptions } from './options.ts';

/** What a server lists, and may say that it changed. */
export type ListKind = 'tools' | 'prompts' | 'resources';

export interface RequestLimit {
  readonly signal: AbortSignal;
  readonly ms: number;
}

const Page = z.looseObject({ nextCursor: z.string().optional() });

const clientInfo: Implementation = { name: 'agent-server', version: '1.0.0' };

/** One session with an MCP server, initialized. */
export class McpSession {
  readonly #client: Client;
  readonly #endpoint: Endpoint;
  /** Who the server can ask while it works for them. */
  readonly activeCalls = new ActiveCalls();
  /** Lists that changed since they were last asked for. */
  readonly changed = new Set<ListKind>();
  /** A request got no answer in time: whether the server still lives is to be found out first. */
  isSuspect = false;

  private constructor(client: Client, endpoint: Endpoint) {
    this.#client = client;
    this.#endpoint = endpoint;
    // What matters fails a request, too.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client is no event target
    client.onerror = () => {};
  }

  /**
   * Opens a session within the time to connect. When that fails, `released` is told when everything is cleaned up: a
   * program may take a while to end.
   */
  static async open(
    options: McpOptions,
    headers: Headers,
    { signal, released }: { readonly signal: AbortSignal; readonly released: (done: Promise<void>) => void },
  ): Promise<McpSession> {
    const { connectMs: ms } = options.timeouts;
    const { Client: SdkClient } = await import('@modelcontextprotocol/client');
    const endpoint = await openEndpoint(options, headers);
    const client = new SdkClient(clientInfo, { capabilities: capabilitiesOf(options) });
    const session = new McpSession(client, endpoint);
    session.#listen(options);
    const { transport } = endpoint;
    try {
      await withTimeLimit({ signal, ms, what: `The MCP server "${options.name}"` }, (limit) =>
        abortable(client.connect(transport, { signal: limit, timeout: 2 * ms }), limit),
      );
    } catch (error) {
      released(transport.close());
      const words = endpoint.stderrTail();
      // For the log: the model is not told what a program prints.
      if (words !== '' && error instanceof Error && !(error instanceof AppError)) {
        error.message += `; its standard error ends in: ${words}`;
      }
      throw error;
    }
    return session;
  }

  get isOpen(): boolean {
    return this.#client.transport !== undefined;
  }

  /** Whether the server offers this kind of thing at all. */
  offers(kind: ListKind): boolean {
    return this.#client.getServerCapabilities()?.[kind] !== undefined;
  }

  /** One page of a list, with whatever the items are: a list with one bad item is not lost. */
  listPage(kind: ListKind, cursor: string | undefined, limit: RequestLimit): Promise<z.infer<typeof Page>> {
    const params = cursor === undefined ? {} : { params: { cursor } };
    return this.#client.request({ method: `${kind}/list`, ...params }, Page, optionsOf(limit));
  }

  /** Not the SDK's own `callTool`, which throws results away that do not fit the schema the server promised. */
  callTool(name: string, args: JsonObject, limit: RequestLimit): Promise<CallToolResult> {
    return this.#client.request({ method: 'tools/call', params: { name, arguments: args } }, optionsOf(limit));
  }

  readResource(uri: string, limit: RequestLimit): Promise<ReadResourceResult> {
    return this.#client.request({ method: 'resources/read', params: { uri } }, optionsOf(limit));
  }

  getPrompt(name: string, args: Record<string, string>, limit: RequestLimit): Promise<GetPromptResult> {
    return this.#client.request({ method: 'prompts/get', params: { name, arguments: args } }, optionsOf(limit));
  }

  async isAlive(limit: RequestLimit): Promise<boolean> {
    try {
      await this.#client.ping(optionsOf(limit));
      return true;
    } catch (error) {
      limit.signal.throwIfAborted();
      // Who says that it knows no pings is alive.
      const { isLost, isSuspect } = failureOf(error);
      return !isLost && !isSuspect;
    }
  }

  async close(): Promise<void> {
    await this.#endpoint.transport.close();
  }

  #listen({ elicitation, sampling }: McpOptions): void {
    const client = this.#client;
    client.setNotificationHandler('notifications/tools/list_changed', () => void this.changed.add('tools'));
    client.setNotificationHandler('notifications/prompts/list_changed', () => void this.changed.add('prompts'));
    client.setNotificationHandler('notifications/resources/list_changed', () => void this.changed.add('resources'));
    if (elicitation)
      client.setRequestHandler('elicitation/create', ({ params }) => this.activeCalls.onlyOne().elicit(params));
    if (sampling === 'deny') return;
    client.setRequestHandler('sampling/createMessage', ({ params }) => this.activeCalls.onlyOne().sample(params));
  }
}

const optionsOf = ({ signal, ms }: RequestLimit): { signal: AbortSignal; timeout: number } => ({ signal, timeout: ms });

function capabilitiesOf({ elicitation, sampling }: McpOptions): ClientCapabilities {
  return {
    ...(elicitation && { elicitation: { form: {}, url: {} } }),
    ...(sampling !== 'deny' && { sampling: {} }),
  };
}
