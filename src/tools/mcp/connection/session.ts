import type {
  CallToolResult,
  Client,
  ClientCapabilities,
  GetPromptResult,
  Implementation,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { abortable } from '../../../base/abort.ts';
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import { withTimeLimit } from '../../time-limit.ts';
import { ActiveCalls } from './active-calls.ts';
import { type Endpoint, openEndpoint } from './endpoint.ts';
import { failureOf } from './failure-kinds.ts';
import type { Headers, McpOptions } from './options.ts';

/** Kinds of lists. A server may report that one changed. */
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
  /** The active calls, which can answer the server's requests. */
  readonly activeCalls = new ActiveCalls();
  /** Lists that changed since they were last loaded. */
  readonly changed = new Set<ListKind>();
  /** A request timed out: ping the server before the next use. */
  isSuspect = false;

  private constructor(client: Client, endpoint: Endpoint) {
    this.#client = client;
    this.#endpoint = endpoint;
    // Ignored: errors that matter also fail a request.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client is no event target
    client.onerror = () => {};
  }

  /**
   * Opens a session within `connectMs`. On failure, `released` gets the promise of the clean-up, because a program may
   * take a while to end.
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
      // For the log only: model requests do not contain what a program prints.
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

  /** Whether the server supports this kind of list. */
  offers(kind: ListKind): boolean {
    return this.#client.getServerCapabilities()?.[kind] !== undefined;
  }

  /** One page of a list. Items are not validated here, so that one invalid item does not fail the list. */
  listPage(kind: ListKind, cursor: string | undefined, limit: RequestLimit): Promise<z.infer<typeof Page>> {
    const params = cursor === undefined ? {} : { params: { cursor } };
    return this.#client.request({ method: `${kind}/list`, ...params }, Page, optionsOf(limit));
  }

  /** Does not use the SDK's `callTool`, which rejects results that do not fit the tool's output schema. */
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
      // A server that does not support pings still answers.
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
