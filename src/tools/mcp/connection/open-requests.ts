import type { FetchLike } from '@modelcontextprotocol/client';
import { LinkedAbort } from '../../../base/abort.ts';
import { type OutboundFetch, outboundFetch } from '../../../base/outbound-fetch.ts';

/** The longest message a server may send, in bytes. */
const maxMessage = 16 * 1024 ** 2;

/** The open requests of one HTTP transport. Each can be aborted alone. */
export class OpenRequests {
  readonly #open = new Map<string | number, LinkedAbort>();
  readonly #outbound: OutboundFetch;

  /** `named`: the URLs that the author configured. */
  constructor(named: readonly string[]) {
    this.#outbound = outboundFetch({ named, maxLineBytes: maxMessage });
  }

  readonly fetch: FetchLike = async (url, init = {}) => {
    const id = requestIdOf(init.body);
    const abort = new LinkedAbort(init.signal ?? new AbortController().signal);
    if (id !== undefined) this.#open.set(id, abort);
    const onClose = (): void => {
      abort[Symbol.dispose]();
      if (id !== undefined && this.#open.get(id) === abort) this.#open.delete(id);
    };
    try {
      return await this.#outbound(url, { ...init, signal: abort.signal, onClose });
    } catch (error) {
      onClose();
      throw error;
    }
  };

  /** Closes the stream of a request whose response is not needed any more. */
  readonly abort = (requestId: string | number): void => this.#open.get(requestId)?.abort();
}

function requestIdOf(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  const message: unknown = JSON.parse(body);
  if (typeof message !== 'object' || message === null || !('id' in message) || !('method' in message)) return undefined;
  return typeof message.id === 'string' || typeof message.id === 'number' ? message.id : undefined;
}
