import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from '@modelcontextprotocol/client';
import { abortable } from '../../base/abort.ts';

/** Who answers what a server asks while it works on a call. */
export interface RequestHandler {
  elicit(params: ElicitRequestParams): Promise<ElicitResult>;
  sample(params: CreateMessageRequestParams): Promise<CreateMessageResult>;
}

/**
 * The calls a session is busy with. A server's question does not say which call it belongs to, and must never reach the
 * wrong user: once a server has asked one, its calls run one after another.
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

  /** The one a question must be for. Throws when that cannot be told. */
  onlyOne(): RequestHandler {
    this.#hasAsked = true;
    const [caller, ...others] = this.#active;
    if (!caller) throw new Error('Nothing is being done for a user who could answer');
    if (others.length > 0) throw new Error('It cannot be told which of several calls this is for: call again');
    return caller;
  }
}
