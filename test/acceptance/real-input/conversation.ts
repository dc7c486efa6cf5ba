import type { GeminiPart } from '../../support/gemini-request.ts';
import type { JsonAnswer, ServerProcess, SseStream } from '../../support/server.ts';

/** An event as our wire shows it. */
export interface WireEvent {
  readonly id: string;
  readonly invocationId: string;
  readonly author: string;
  readonly timestamp: number;
  readonly content?: { readonly role?: string; readonly parts?: readonly GeminiPart[] };
  readonly partial?: boolean;
  readonly finishReason?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly usageMetadata?: Record<string, number>;
  readonly modelVersion?: string;
  readonly branch?: string;
  readonly longRunningToolIds?: readonly string[];
  readonly actions: {
    readonly stateDelta: Record<string, unknown>;
    readonly artifactDelta: Record<string, number>;
    readonly transferToAgent?: string;
    readonly escalate?: boolean;
    readonly skipSummarization?: boolean;
  };
}

export interface WireSession {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: Record<string, unknown>;
  readonly events: readonly WireEvent[];
  readonly lastUpdateTime: number;
}

/** A message: its text, or its parts. */
export type Message = string | readonly GeminiPart[];

const contentOf = (message: Message): object => ({
  role: 'user',
  parts: typeof message === 'string' ? [{ text: message }] : message,
});

function requireOk(status: number, text: string): void {
  if (status !== 200) throw new Error(`The server answered ${status}: ${text}`);
}

/** The visible text of an event. */
export const textOf = (event: WireEvent | undefined): string =>
  (event?.content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('');

/** Events one line each, `author: text`, with calls, responses and errors named. */
export const outline = (events: readonly WireEvent[]): string[] =>
  events.map((event) => {
    const parts = (event.content?.parts ?? []).map((part) => {
      if (part.functionCall) return `call ${part.functionCall.name}`;
      if (part.functionResponse) return `response ${part.functionResponse.name}`;
      return part.thought ? `thought ${part.text}` : part.text;
    });
    return `${event.author}: ${[...parts, ...(event.errorCode ? [`error ${event.errorCode}`] : [])].join(' | ')}`;
  });

/** One session of the server, talked to over HTTP. */
export class Conversation {
  readonly #server: ServerProcess;
  readonly app: string;
  readonly userId: string;
  readonly sessionId: string;

  private constructor(server: ServerProcess, session: Pick<WireSession, 'appName' | 'userId' | 'id'>) {
    this.#server = server;
    this.app = session.appName;
    this.userId = session.userId;
    this.sessionId = session.id;
  }

  static async open(
    server: ServerProcess,
    app: string,
    options: { state?: Record<string, unknown>; userId?: string } = {},
  ): Promise<Conversation> {
    const userId = options.userId ?? `user-${crypto.randomUUID()}`;
    const { status, body, text } = await server.fetchJson(`/apps/${app}/users/${userId}/sessions`, {
      json: { state: options.state ?? {} },
    });
    requireOk(status, text);
    return new Conversation(server, body as WireSession);
  }

  /** A session that is there already. */
  static resume(server: ServerProcess, session: Pick<WireSession, 'appName' | 'userId' | 'id'>): Conversation {
    return new Conversation(server, session);
  }

  /** The path of the session. */
  get path(): string {
    return `/apps/${this.app}/users/${this.userId}/sessions/${this.sessionId}`;
  }

  /** Runs a message and gives the HTTP answer, whatever its status. */
  async run(message: Message, more: Record<string, unknown> = {}): Promise<JsonAnswer> {
    return await this.#server.fetchJson('/run', { json: this.#request(message, more) });
  }

  /** Runs a message and gives the events of the answer, which must be 200. */
  async say(message: Message, more: Record<string, unknown> = {}): Promise<WireEvent[]> {
    const { status, body, text } = await this.run(message, more);
    requireOk(status, text);
    return body as WireEvent[];
  }

  /** Starts a message on the event stream. */
  async open(message: Message, more: Record<string, unknown> = {}): Promise<SseStream> {
    return await this.#server.sse('/run_sse', this.#request(message, { streaming: true, ...more }));
  }

  /** The events of a streamed message, to its end. */
  async stream(message: Message, more: Record<string, unknown> = {}): Promise<WireEvent[]> {
    const stream = await this.open(message, more);
    if (stream.status !== 200) requireOk(stream.status, JSON.stringify(await stream.problem()));
    return (await stream.all()) as unknown as WireEvent[];
  }

  /** The session as stored. */
  async session(): Promise<WireSession> {
    const { status, body, text } = await this.#server.fetchJson(this.path);
    requireOk(status, text);
    return body as WireSession;
  }

  #request(message: Message, more: Record<string, unknown>): Record<string, unknown> {
    const { app: appName, userId, sessionId } = this;
    return { appName, userId, sessionId, newMessage: contentOf(message), ...more };
  }
}
