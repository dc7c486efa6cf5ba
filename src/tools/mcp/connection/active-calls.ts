import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from '@modelcontextprotocol/client';
import { abortable } from '../../../base/abort.ts';

/** Answers the server's requests during a call. */
export interface RequestHandler {
  elicit(params: ElicitRequestParams): Promise<ElicitResult>;
  sample(params: CreateMessageRequestParams): Promise<CreateMessageResult>;
}

/**
 * The active calls of a session. A server's request does not name the call it belongs to, and must never reach the wrong
 * user: after a server's first request, its calls run one after another.
 */
export class ActiveCalls {
  readonly #active = new Set<RequestHandler>();
  #hasAsked = false;
  #last: Promise<void> = Promise.resolve();

  async run<T>(caller: RequestHandler, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      if (this.#hasAsked) await abortable(before, signal);
      this.#active.add(caller);
      return await work();
    } finally {
      this.#active.delete(caller);
      resolve();
    }
  }

  /** The handler of the only active call. Throws without one, and when several calls are active. */
  onlyOne(): RequestHandler {
    this.#hasAsked = true;
    const [caller, ...others] = this.#active;
    if (!caller) throw new Error('There is no active call whose user could answer');
    if (others.length > 0)
      throw new Error('Several calls are active, and the request does not say which it belongs to: call again');
    return caller;
  }
}
