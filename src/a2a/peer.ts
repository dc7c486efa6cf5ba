import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { abortable, delay, LinkedAbort, stopOnAbort } from '../base/abort.ts';
import { AppError, errorText } from '../base/errors.ts';
import { type OutboundFetch, outboundFetch } from '../base/outbound-fetch.ts';
import { startTimer } from '../base/timers.ts';
import { type CardSource, reasonOf, resolveCard, type ResolvedCard } from './agent-card.ts';
import type { A2aCard, A2aMessage, A2aUpdate } from './wire.ts';

export interface PeerOptions {
  /** The peer's name in error messages. */
  readonly name: string;
  readonly card: CardSource;
  /** Milliseconds without data from the peer after which a request fails. */
  readonly timeoutMs: number;
  /** Whether requests go to hosts on the public internet only, even if the source of the card names another. */
  readonly publicOnly?: boolean | undefined;
}

/** One message to a peer, with its headers. */
export interface PeerRequest {
  readonly message: A2aMessage;
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of artifacts of the task that came in earlier turns. */
  readonly knownArtifacts?: readonly string[];
}

/** The longest message a peer may send, in bytes. */
const maxMessage = 16 * 1024 ** 2;
/** Time limits for loading a card and for cancelling a task. */
const cardMs = 30_000;
const cancelMs = 5_000;
/** The first and the longest interval of polling a task, in milliseconds. */
const minPollMs = 250;
const maxPollMs = 5_000;

/** The client of one remote agent, over the transport and protocol version that its card names. */
export class Peer {
  readonly #options: PeerOptions;
  #client: Client | undefined;
  #card: A2aCard | undefined;
  readonly #cancelling = new Set<Promise<void>>();

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** The card, after the first request. */
  get card(): A2aCard | undefined {
    return this.#card;
  }

  /**
   * Sends a message and yields the peer's updates, until the peer ends the connection. Throws A2AClientError,
   * AgentCardResolutionError, or the signal's reason.
   */
  async *send({ message, headers }: PeerRequest, signal: AbortSignal): AsyncGenerator<A2aUpdate, void, void> {
    using turn = new LinkedAbort(signal);
    const silenceTimer = this.#silenceTimer(turn);
    try {
      const client = await this.#connect(headers, turn.signal);
      const { SendMessageRequest, StreamResponse } = await import('@a2a-js/sdk');
      const request = SendMessageRequest.fromJSON({ message });
      const options = { signal: turn.signal, serviceParameters: { ...headers } };
      for await (const update of stopOnAbort(client.sendMessageStream(request, options), turn.signal)) {
        silenceTimer?.refresh();
        yield StreamResponse.toJSON(update) as A2aUpdate;
      }
    } catch (error) {
      throw this.#failure(error, turn.signal);
    } finally {
      clearTimeout(silenceTimer);
      // Ends the request if the consumer stopped reading.
      turn.abort(new AppError('run_cancelled', 'The turn is over'));
    }
  }

  /** Polls a task after its connection broke, and yields its state each time, until the timeout. */
  async *follow(
    taskId: string,
    { headers }: Pick<PeerRequest, 'headers'>,
    signal: AbortSignal,
  ): AsyncGenerator<A2aUpdate, void, void> {
    using turn = new LinkedAbort(signal);
    const silenceTimer = this.#silenceTimer(turn);
    try {
      const client = await this.#connect(headers, turn.signal);
      const { GetTaskRequest, Task } = await import('@a2a-js/sdk');
      for (let wait = minPollMs; ; wait = Math.min(wait * 1.5, maxPollMs)) {
        const options = { signal: turn.signal, serviceParameters: { ...headers } };
        const task = await abortable(client.getTask(GetTaskRequest.fromJSON({ id: taskId }), options), turn.signal);
        yield { task: Task.toJSON(task) as NonNullable<A2aUpdate['task']> };
        await delay(wait, turn.signal);
      }
    } catch (error) {
      throw this.#failure(error, turn.signal);
    } finally {
      clearTimeout(silenceTimer);
    }
  }

  /** Asks the peer to cancel a task, without waiting. Failures are ignored. */
  cancel(taskId: string, { headers }: Pick<PeerRequest, 'headers'>): void {
    const client = this.#client;
    if (!client) return;
    const work = this.#cancelTask(client, taskId, headers).then(undefined, () => {});
    this.#cancelling.add(work);
    void work.then(() => this.#cancelling.delete(work)); // `work` never rejects
  }

  /** Waits for the cancel requests in progress. */
  async close(): Promise<void> {
    await Promise.all(this.#cancelling);
  }

  async #cancelTask(client: Client, taskId: string, headers: PeerRequest['headers']): Promise<void> {
    const { CancelTaskRequest } = await import('@a2a-js/sdk');
    const options: RequestOptions = { signal: AbortSignal.timeout(cancelMs), serviceParameters: { ...headers } };
    await client.cancelTask(CancelTaskRequest.fromJSON({ id: taskId }), options);
  }

  async #connect(headers: PeerRequest['headers'], signal: AbortSignal): Promise<Client> {
    if (this.#client) return this.#client;
    using cardAbort = new LinkedAbort(signal);
    const { name, timeoutMs } = this.#options;
    const tooLong = new AppError('AgentCardResolutionError', `The agent card of "${name}" did not arrive in time`);
    const timer = setTimeout(() => cardAbort.abort(tooLong), Math.min(cardMs, timeoutMs));
    try {
      const { card, origin } = await abortable(this.#resolve(headers, cardAbort.signal), cardAbort.signal);
      this.#client = await clientFor(card, this.#fetch(origin === undefined ? addressesOf(card) : [origin]));
      this.#card = card;
      return this.#client;
    } finally {
      clearTimeout(timer);
    }
  }

  async #resolve(headers: PeerRequest['headers'], signal: AbortSignal): Promise<ResolvedCard> {
    const { card: source } = this.#options;
    const named = typeof source === 'string' || source instanceof URL ? [source] : [];
    const resolved = await resolveCard(source, { fetch: this.#fetch(named), headers }, signal);
    if (resolved.origin !== undefined) refuseOtherOrigins(resolved.card, resolved.origin);
    return resolved;
  }

  #fetch(named: readonly (string | URL)[]): OutboundFetch {
    return outboundFetch({ named: this.#options.publicOnly ? [] : named, maxLineBytes: maxMessage });
  }

  #silenceTimer(turn: LinkedAbort): NodeJS.Timeout | undefined {
    const { name, timeoutMs } = this.#options;
    const silent = new AppError('A2AClientError', `Remote agent "${name}" was silent for ${timeoutMs} ms`);
    return startTimer(() => turn.abort(silent), timeoutMs);
  }

  #failure(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof AppError) return error;
    // The peer's error text may be of any length.
    const reason = reasonOf(error).slice(0, 500);
    return new AppError('A2AClientError', `Remote agent "${this.#options.name}" failed: ${reason}`, { cause: error });
  }
}

/** The author named one server. Its card must not send our requests, with their data, to another one. */
function refuseOtherOrigins(card: A2aCard, origin: string): void {
  const foreign = card.supportedInterfaces.find(({ url }) => new URL(url).origin !== origin);
  if (!foreign) return;
  throw new AppError(
    'AgentCardResolutionError',
    `The agent card of ${new URL(origin).host} sends clients to ${new URL(foreign.url).host}: requests may only go to the configured server. To allow it, configure the card itself, as a file or an object`,
  );
}

const addressesOf = (card: A2aCard): string[] => card.supportedInterfaces.map(({ url }) => url);

async function clientFor(card: A2aCard, fetcher: OutboundFetch): Promise<Client> {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } =
    await import('@a2a-js/sdk/client');
  const { AgentCard } = await import('@a2a-js/sdk');
  const never = new AbortController().signal;
  const fetchImpl: typeof fetch = (url, init) => fetcher(addressOf(url), { ...init, signal: init?.signal ?? never });
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }),
  });
  try {
    return await factory.createFromAgentCard(AgentCard.fromJSON(card));
  } catch (error) {
    const message = `The agent card names no supported transport: ${errorText(error)}`;
    throw new AppError('AgentCardResolutionError', message, { cause: error });
  }
}

const addressOf = (target: Parameters<typeof fetch>[0]): string | URL =>
  target instanceof Request ? target.url : target;
