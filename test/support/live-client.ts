import { WebSocket } from 'ws';

/** A frame of the server as a test reads it: an event, or an error. */
export interface LiveFrame {
  readonly id?: string;
  readonly author?: string;
  readonly invocationId?: string;
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  readonly interrupted?: boolean;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly error?: string;
  readonly content?: { readonly role?: string; readonly parts: readonly LivePart[] };
  readonly inputTranscription?: { readonly text?: string; readonly finished?: boolean };
  readonly outputTranscription?: { readonly text?: string; readonly finished?: boolean };
  readonly usageMetadata?: Readonly<Record<string, unknown>>;
  readonly actions?: { readonly stateDelta: Record<string, unknown>; readonly transferToAgent?: string };
  readonly goAway?: object;
  readonly customMetadata?: Readonly<Record<string, unknown>>;
  readonly liveSessionResumptionUpdate?: { readonly newHandle?: string };
}

export interface LivePart {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly fileData?: { readonly fileUri: string; readonly mimeType?: string };
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: object };
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: object };
}

interface LiveOptions {
  readonly headers?: Record<string, string>;
  /** More query parameters. */
  readonly query?: string;
}

/** A client of `/run_live`. */
export class LiveClient {
  readonly socket: WebSocket;
  readonly frames: LiveFrame[] = [];
  /** The frames as they came. */
  readonly texts: string[] = [];
  /** Rejects when the server refuses the connection. */
  readonly opened: Promise<void>;
  /** Resolves with the last frame of the connection. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #look: (() => void) | undefined;
  #end: { code: number; reason: string } | undefined;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers });
    this.opened = new Promise((resolve, reject) => {
      this.socket.once('open', () => resolve());
      this.socket.on('error', reject);
    });
    this.opened.catch(() => {}); // whoever waits for it hears of it
    this.socket.on('message', (data: Buffer) => {
      this.texts.push(data.toString());
      this.frames.push(JSON.parse(data.toString()) as LiveFrame);
      this.#look?.();
    });
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => {
        this.#end = { code, reason: reason.toString() };
        this.#look?.();
        resolve(this.#end);
      });
    });
  }

  /** Resolves when the connection is open. Throws when the server refuses it. */
  static async connect(
    base: string,
    key: { appName: string; userId: string; sessionId: string },
    { headers, query = '' }: LiveOptions = {},
  ): Promise<LiveClient> {
    const { appName, userId, sessionId } = key;
    const names = `app_name=${appName}&user_id=${userId}&session_id=${sessionId}`;
    const client = new LiveClient(`${base.replace(/^http/, 'ws')}/run_live?${names}${query}`, headers);
    await client.opened;
    return client;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  say(text: string): void {
    this.send({ content: { role: 'user', parts: [{ text }] } });
  }

  /** Resolves with the first frame, from `since` on, that fits. Throws when the connection closes before. */
  async frame(fits: (frame: LiveFrame) => boolean, since = 0): Promise<LiveFrame> {
    for (;;) {
      const found = this.frames.slice(since).find(fits);
      if (found) return found;
      if (this.#end) throw new Error(`Closed (${this.#end.code} ${this.#end.reason}) after ${this.texts.join('\n')}`);
      await new Promise<void>((resolve) => (this.#look = resolve));
    }
  }

  /** Says something and resolves with the frames up to the end of the turn. */
  async ask(text: string): Promise<LiveFrame[]> {
    const since = this.frames.length;
    this.say(text);
    await this.frame(({ turnComplete }) => turnComplete === true, since);
    return this.frames.slice(since);
  }

  async close(): Promise<{ code: number; reason: string }> {
    this.socket.close(1000);
    return this.closed;
  }
}

/** The frames in short: who says what. */
export const outline = (frames: readonly LiveFrame[]): string[] =>
  frames.map((frame) => {
    const said = (frame.content?.parts ?? []).map((part) => {
      if (part.functionCall) return `${part.functionCall.name}(${JSON.stringify(part.functionCall.args ?? {})})`;
      if (part.functionResponse)
        return `${part.functionResponse.name} -> ${JSON.stringify(part.functionResponse.response)}`;
      if (part.inlineData) return `<${part.inlineData.mimeType}>`;
      return part.text ?? Object.keys(part).join();
    });
    const { inputTranscription, outputTranscription } = frame;
    if (inputTranscription) said.push(`heard "${inputTranscription.text}"`);
    if (outputTranscription) said.push(`spoke "${outputTranscription.text}"`);
    for (const flag of ['partial', 'interrupted', 'turnComplete'] as const) if (frame[flag]) said.push(flag);
    if (frame.errorCode) said.push(`error ${frame.errorCode}`);
    return `${frame.author ?? '-'}: ${said.join(' + ')}`;
  });
