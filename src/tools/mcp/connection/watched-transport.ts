import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { connectionCut } from './failure-kinds.ts';

export interface Watch {
  /** Whether the transport is unusable after this error. */
  readonly isFatal?: (error: Error) => boolean;
  /** Frees the resources of a cancelled request. */
  readonly cut?: (requestId: string | number) => void;
  /** Called before the transport closes, to notify the server. */
  readonly beforeClose?: () => Promise<void>;
}

/**
 * A transport of the SDK that fails at once where the SDK would only run into its timeouts: when the stream of a request
 * broke, and when an event source reconnects to a server that does not know the session.
 */
export class WatchedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #inner: Transport;
  readonly #watch: Watch;
  readonly #unanswered = new Set<string | number>();
  #isOpen = false;
  #closing: Promise<void> | undefined;

  constructor(inner: Transport, watch: Watch = {}) {
    this.#inner = inner;
    this.#watch = watch;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    /* oxlint-disable unicorn/prefer-add-event-listener -- the SDK's transports are no event targets */
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => {
      this.onerror?.(error);
      // The SDK would continue to send into a dead transport. Closing it fails the waiting requests.
      if (this.#isOpen && this.#watch.isFatal?.(error)) void this.close();
    };
    this.#inner.onmessage = (message, extra) => {
      if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
      this.onmessage?.(message, extra);
    };
    /* oxlint-enable unicorn/prefer-add-event-listener */
    await this.#inner.start();
    this.#isOpen = true;
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message && 'id' in message) {
      const { id } = message;
      this.#unanswered.add(id);
      await this.#inner.send(message, { ...options, onRequestStreamEnd: () => this.#giveUp(id) });
      return;
    }
    await this.#inner.send(message, options);
    const cancelled = cancelledId(message);
    if (cancelled === undefined) return;
    this.#unanswered.delete(cancelled);
    this.#watch.cut?.(cancelled);
  }

  /** Resolves once everything is released. May be called several times. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) await this.#watch.beforeClose?.();
    await this.#inner.close();
  }

  #giveUp(id: string | number): void {
    if (!this.#unanswered.delete(id)) return;
    const error = { code: connectionCut, message: 'The connection was lost before the answer came' };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }
}

function cancelledId(message: JSONRPCMessage): string | number | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id: unknown = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
