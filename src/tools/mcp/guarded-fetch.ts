import type { FetchLike } from '@modelcontextprotocol/client';
import { LinkedAbort } from '../../base/abort.ts';
import { limitedBody } from '../../base/limited-body.ts';

/** The longest message a server may send, in bytes. */
const maxMessage = 16 * 1024 ** 2;

/** The requests of one HTTP transport: each can be let go of on its own, and no message may be endless. */
export class GuardedFetch {
  readonly #open = new Map<string | number, LinkedAbort>();

  readonly fetch: FetchLike = async (url, init = {}) => {
    const id = requestIdOf(init.body);
    const abort = id !== undefined && init.signal ? new LinkedAbort(init.signal) : undefined;
    if (id !== undefined && abort) this.#open.set(id, abort);
    const release = (): void => {
      abort?.[Symbol.dispose]();
      if (id !== undefined && this.#open.get(id) === abort) this.#open.delete(id);
    };
    try {
      const response = await fetch(url, { ...init, ...(abort && { signal: abort.signal }) });
      if (!response.body) {
        release();
        return response;
      }
      return new Response(limitedBody(response.body, maxMessage, release), response);
    } catch (error) {
      release();
      throw error;
    }
  };

  /** Closes the stream of a request whose answer is no longer wanted. */
  readonly cut = (requestId: string | number): void => this.#open.get(requestId)?.abort();
}

function requestIdOf(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  const message: unknown = JSON.parse(body);
  if (typeof message !== 'object' || message === null || !('id' in message) || !('method' in message)) return undefined;
  return typeof message.id === 'string' || typeof message.id === 'number' ? message.id : undefined;
}
