import type { GoogleGenAI, Live, LiveConnectParameters, LiveServerMessage, Session } from '@google/genai';
import { abortable } from '../../base/abort.ts';

/** Messages in the queue before the socket is paused, and bytes in the send buffer before sending waits. */
const maxQueued = 256;
const maxUnsentBytes = 1024 * 1024;
/** How long the provider may take to open a connection, and to answer the frame that closes one. */
const openTimeoutMs = 20_000;
const closeTimeoutMs = 1_000;

/** How a connection ended. */
export interface ConnectionEnd {
  readonly code: number;
  readonly reason: string;
}

/** The socket below the SDK's; the SDK exposes less of it. */
interface RawSocket {
  readonly bufferedAmount: number;
  pause(): void;
  resume(): void;
  terminate(): void;
}

type SdkSocket = ReturnType<SocketFactory['create']>;
type SocketFactory = ConstructorParameters<typeof Live>[2];

/** One connection to the Live API. Queues messages until they are read; pauses the socket while the queue is full. */
export class LiveConnection {
  readonly #queue: LiveServerMessage[] = [];
  #session: Session | undefined;
  #socket: SdkSocket | undefined;
  #end: ConnectionEnd | undefined;
  #isPaused = false;
  #closeTimer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  /** Resolves when the provider has accepted the setup. Rejects with the SDK's error, or with the signal's reason. */
  static async open(
    ai: GoogleGenAI,
    parameters: Omit<LiveConnectParameters, 'callbacks'>,
    signal: AbortSignal,
  ): Promise<LiveConnection> {
    const connection = new LiveConnection();
    const attempt = new AbortController();
    const timer = setTimeout(() => attempt.abort(timeout()), openTimeoutMs);
    const onAbort = (): void => attempt.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const callbacks = { onmessage: connection.#onMessage, onclose: connection.#onClose };
      const live = connection.#watched(ai, attempt.signal);
      connection.#session = await abortable(live.connect({ ...parameters, callbacks }), attempt.signal);
      return connection;
    } catch (error) {
      connection.#kill();
      if (connection.#end?.reason) throw new ConnectionRefused(connection.#end, { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The SDK's session, for sending. Only connections from `open` have one. */
  get session(): Session {
    if (!this.#session) throw new Error('The connection was never opened');
    return this.#session;
  }

  get end(): ConnectionEnd | undefined {
    return this.#end;
  }

  /** Whether the send buffer is full: the provider reads more slowly than we send. */
  get isCongested(): boolean {
    return (this.#raw?.bufferedAmount ?? 0) > maxUnsentBytes;
  }

  /** The next message; `undefined` when the connection has ended and all messages were read, or after `interrupt`. */
  async next(): Promise<LiveServerMessage | undefined> {
    if (this.#queue.length === 0 && !this.#end) await new Promise<void>((resolve) => (this.#wake = resolve));
    const message = this.#queue.shift();
    if (this.#isPaused && this.#queue.length < maxQueued / 2) {
      this.#isPaused = false;
      this.#raw?.resume();
    }
    return message;
  }

  /** Ends the wait of the reader. */
  interrupt(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Closes the connection; terminates the socket when the provider does not answer in time. */
  close(): void {
    if (this.#end || !this.#socket) return;
    this.#raw?.resume();
    this.#socket.close();
    this.#closeTimer ??= setTimeout(() => this.#kill(), closeTimeoutMs).unref();
  }

  get #raw(): RawSocket | undefined {
    const raw: unknown = this.#socket && Reflect.get(this.#socket, 'ws');
    return raw as RawSocket | undefined;
  }

  #kill(): void {
    this.#raw?.terminate();
  }

  /**
   * The SDK's live client, with access to its socket. The SDK hides the socket, leaves it open when the setup gets no
   * answer, and turns a message that is not JSON into an unhandled error.
   */
  #watched(ai: GoogleGenAI, signal: AbortSignal): Live {
    const { live } = ai;
    const sdk = Reflect.get(live, 'webSocketFactory') as SocketFactory;
    const factory: SocketFactory = {
      create: (url, headers, callbacks) => {
        signal.throwIfAborted();
        const onmessage = (event: { data: unknown }): void => {
          if (isJson(event.data)) callbacks.onmessage(event);
          else callbacks.onclose({ code: 1007, reason: 'The provider sent something that is not JSON' });
        };
        // The SDK appends a path with a leading slash to a base URL that ends with one.
        this.#socket = sdk.create(url.replace(/(?<!:)\/\/ws\//, '/ws/'), headers, { ...callbacks, onmessage });
        return this.#socket;
      },
    };
    const Client = live.constructor as typeof Live;
    return new Client(Reflect.get(live, 'apiClient'), Reflect.get(live, 'auth'), factory);
  }

  readonly #onMessage = (message: LiveServerMessage): void => {
    this.#queue.push(message);
    if (this.#queue.length > maxQueued && !this.#isPaused) {
      this.#isPaused = true;
      this.#raw?.pause();
    }
    this.interrupt();
  };

  readonly #onClose = ({ code, reason }: ConnectionEnd): void => {
    clearTimeout(this.#closeTimer);
    this.#end ??= { code, reason };
    if (code === 1007) this.#kill();
    this.interrupt();
  };
}

/** The provider ended a connection before it was open. */
export class ConnectionRefused extends Error {
  readonly end: ConnectionEnd;

  constructor(end: ConnectionEnd, options: ErrorOptions) {
    super(end.reason, options);
    this.end = end;
  }
}

const timeout = (): DOMException =>
  new DOMException('The provider did not open the connection in time', 'TimeoutError');

function isJson(data: unknown): boolean {
  try {
    JSON.parse(String(data));
    return true;
  } catch {
    return false;
  }
}
