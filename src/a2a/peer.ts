import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { abortable, delay, LinkedAbort, stopOnAbort } from '../base/abort.ts';
import { AppError, errorText } from '../base/errors.ts';
import { type OutboundFetch, outboundFetch } from '../base/outbound-fetch.ts';
import { startTimer } from '../base/timers.ts';
import { type CardSource, reasonOf, resolveCard, type ResolvedCard } from './agent-card.ts';
import type { A2aCard, A2aMessage, A2aUpdate } from './wire.ts';

export interface PeerOptions {
  /** What messages call the peer. */
  readonly name: string;
  readonly card: CardSource;
  /** Milliseconds without a sign of the peer after which it is given up. */
  readonly timeoutMs: number;
  /** Whether only hosts on the public internet may be asked, also those that the source of the card names. */
  readonly publicOnly?: boolean | undefined;
}

/** One message to a peer and what goes with it. */
export interface Turn {
  readonly message: A2aMessage;
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of artifacts of the task that came in earlier turns. */
  readonly knownArtifacts?: readonly string[];
}

/** The longest message a peer may send, in bytes. */
const maxMessage = 16 * 1024 ** 2;
/** How long a card, and a peer that is told to stop, may take. */
const cardMs = 30_000;
const cancelMs = 5_000;
/** The first and the longest wait between two looks at a task that goes on by itself, in milliseconds. */
const firstLook = 250;
const longestLook = 5_000;

/** The client's side of the conversation with one remote agent, over whichever transport and version its card names. */
export class Peer {
  readonly #options: PeerOptions;
  #client: Client | undefined;
  #card: A2aCard | undefined;
  readonly #cancelling = new Set<Promise<void>>();

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** The card, once it has been needed. */
  get card(): A2aCard | undefined {
    return this.#card;
  }

  /**
   * Sends a message and gives what comes back, until the peer's side of the connection ends. Throws A2AClientError,
   * AgentCardResolutionError, or what the signal aborts with.
   */
  async *send({ message, headers }: Turn, signal: AbortSignal): AsyncGenerator<A2aUpdate, void, void> {
    using turn = new LinkedAbort(signal);
    const patience = this.#patience(turn);
    try {
      const client = await this.#connect(headers, turn.signal);
      const { SendMessageRequest, StreamResponse } = await import('@a2a-js/sdk');
      const request = SendMessageRequest.fromJSON({ message });
      const options = { signal: turn.signal, serviceParameters: { ...headers } };
      for await (const update of stopOnAbort(client.sendMessageStream(request, options), turn.signal)) {
        patience?.refresh();
        yield StreamResponse.toJSON(update) as A2aUpdate;
      }
    } catch (error) {
      throw this.#failure(error, turn.signal);
    } finally {
      clearTimeout(patience);
      // A request that nobody reads any more would go on otherwise.
      turn.abort(new AppError('run_cancelled', 'The turn is over'));
    }
  }

  /** The same for a task that goes on without a connection: how it stands, again and again, for as long as silence is borne. */
  async *follow(
    taskId: string,
    { headers }: Pick<Turn, 'headers'>,
    signal: AbortSignal,
  ): AsyncGenerator<A2aUpdate, void, void> {
    using turn = new LinkedAbort(signal);
    const patience = this.#patience(turn);
    try {
      const client = await this.#connect(headers, turn.signal);
      const { GetTaskRequest, Task } = await import('@a2a-js/sdk');
      for (let wait = firstLook; ; wait = Math.min(wait * 1.5, longestLook)) {
        const options = { signal: turn.signal, serviceParameters: { ...headers } };
        const task = await abortable(client.getTask(GetTaskRequest.fromJSON({ id: taskId }), options), turn.signal);
        yield { task: Task.toJSON(task) as NonNullable<A2aUpdate['task']> };
        await delay(wait, turn.signal);
      }
    } catch (error) {
      throw this.#failure(error, turn.signal);
    } finally {
      clearTimeout(patience);
    }
  }

  /** Tells the peer that nobody waits for a task any more. It may not care; nobody waits for that either. */
  cancel(taskId: string, { headers }: Pick<Turn, 'headers'>): void {
    const client = this.#client;
    if (!client) return;
    const work = this.#askToCancel(client, taskId, headers).then(undefined, () => {});
    this.#cancelling.add(work);
    void work.then(() => this.#cancelling.delete(work)); // `work` never rejects
  }

  /** Waits for what was told to stop to have heard it. */
  async close(): Promise<void> {
    await Promise.all(this.#cancelling);
  }

  async #askToCancel(client: Client, taskId: string, headers: Turn['headers']): Promise<void> {
    const { CancelTaskRequest } = await import('@a2a-js/sdk');
    const options: RequestOptions = { signal: AbortSignal.timeout(cancelMs), serviceParameters: { ...headers } };
    await client.cancelTask(CancelTaskRequest.fromJSON({ id: taskId }), options);
  }

  async #connect(headers: Turn['headers'], signal: AbortSignal): Promise<Client> {
    if (this.#client) return this.#client;
    using asking = new LinkedAbort(signal);
    const { name, timeoutMs } = this.#options;
    const tooLong = new AppError('AgentCardResolutionError', `The agent card of "${name}" did not come in time`);
    const timer = setTimeout(() => asking.abort(tooLong), Math.min(cardMs, timeoutMs));
    try {
      const { card, origin } = await abortable(this.#resolve(headers, asking.signal), asking.signal);
      this.#client = await clientFor(card, this.#fetch(origin === undefined ? addressesOf(card) : [origin]));
      this.#card = card;
      return this.#client;
    } finally {
      clearTimeout(timer);
    }
  }

  async #resolve(headers: Turn['headers'], signal: AbortSignal): Promise<ResolvedCard> {
    const { card: source } = this.#options;
    const named = typeof source === 'string' || source instanceof URL ? [source] : [];
    const resolved = await resolveCard(source, { fetch: this.#fetch(named), headers }, signal);
    if (resolved.origin !== undefined) refuseOtherOrigins(resolved.card, resolved.origin);
    return resolved;
  }

  #fetch(named: readonly (string | URL)[]): OutboundFetch {
    return outboundFetch({ named: this.#options.publicOnly ? [] : named, maxLineBytes: maxMessage });
  }

  #patience(turn: LinkedAbort): NodeJS.Timeout | undefined {
    const { name, timeoutMs } = this.#options;
    const silent = new AppError('A2AClientError', `Remote agent "${name}" was silent for ${timeoutMs} ms`);
    return startTimer(() => turn.abort(silent), timeoutMs);
  }

  #failure(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof AppError) return error;
    // What the peer says of its failure may be anything, of any length.
    const reason = reasonOf(error).slice(0, 500);
    return new AppError('A2AClientError', `Remote agent "${this.#options.name}" failed: ${reason}`, { cause: error });
  }
}

/** The author named one server. Its card must not send us, and what we know, to another one. */
function refuseOtherOrigins(card: A2aCard, origin: string): void {
  const foreign = card.supportedInterfaces.find(({ url }) => new URL(url).origin !== origin);
  if (!foreign) return;
  throw new AppError(
    'AgentCardResolutionError',
    `The agent card of ${new URL(origin).host} sends clients to ${new URL(foreign.url).host}: requests stay with the server that was named. Give the card itself, as a file or an object, to allow it`,
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
    const message = `The agent card names no transport that is spoken here: ${errorText(error)}`;
    throw new AppError('AgentCardResolutionError', message, { cause: error });
  }
}

const addressOf = (target: Parameters<typeof fetch>[0]): string | URL =>
  target instanceof Request ? target.url : target;
