import type { Event } from '../../../../src/schemas/event.ts';
import type { SessionKey } from '../../../../src/schemas/session.ts';
import { addressOf } from '../../api/server.ts';

interface Listener {
  onOpen(): void;
  onEvent(event: Event): void;
  /** The server reports an invalid message of this client. */
  onFault(text: string): void;
  /** Waiting before it reconnects. */
  onRetry(reason: string): void;
  /** The connection has closed. Without a reason it ended normally. */
  onEnd(reason: string | undefined): void;
}

/** Close codes after which reconnecting is useless. */
const final = new Set([1000, 1002, 1007, 1008, 1009]);
const retryMs = [500, 1_000, 2_000, 4_000, 8_000];
/** Audio beyond this much unsent data is dropped: it would arrive too late. */
const mostBuffered = 256 * 1024;

/** The connection of a live conversation. It reconnects when it breaks. */
export class LiveSocket {
  readonly #url: string;
  readonly #listener: Listener;
  #socket: WebSocket | undefined;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(key: SessionKey, listener: Listener) {
    const query = new URLSearchParams({ app_name: key.appName, user_id: key.userId, session_id: key.sessionId });
    this.#url = `${addressOf('run_live').replace(/^http/, 'ws')}?${query}`;
    this.#listener = listener;
    this.#connect();
  }

  /** Raw audio, without JSON around it. */
  sendSound(samples: Int16Array<ArrayBuffer>): void {
    const socket = this.#socket;
    if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < mostBuffered) socket.send(samples);
  }

  sendPicture(data: string): void {
    this.#send({ blob: { mimeType: 'image/jpeg', data } });
  }

  /** Returns false, and sends nothing, while there is no connection. */
  sendText(text: string): boolean {
    return this.#send({ content: { role: 'user', parts: [{ text }] } });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // Between two tries the socket has closed already: no event follows that would end the conversation.
    if (this.#socket?.readyState === WebSocket.CLOSED) return this.#listener.onEnd(undefined);
    this.#send({ close: true });
    this.#socket?.close(1000);
  }

  #send(message: object): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #connect(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener('open', () => this.#listener.onOpen());
    socket.addEventListener('message', ({ data }) => this.#read(String(data)));
    socket.addEventListener('close', ({ code, reason }: CloseEvent) => this.#closed(code, reason));
  }

  #read(data: string): void {
    const value = JSON.parse(data) as Event | { readonly error: string };
    if ('error' in value) return this.#listener.onFault(value.error);
    if (value.errorCode === undefined) this.#tries = 0; // it works again
    this.#listener.onEvent(value);
  }

  #closed(code: number, reason: string): void {
    if (this.#isClosed) return this.#listener.onEnd(undefined);
    const words = reason || `Connection lost (${code})`;
    const wait = retryMs[this.#tries];
    if (code === 1000) return this.#listener.onEnd(undefined);
    if (final.has(code) || wait === undefined) return this.#listener.onEnd(words);
    this.#tries += 1;
    this.#listener.onRetry(words);
    this.#timer = setTimeout(() => this.#connect(), wait);
  }
}
