import type { GoogleGenAI } from '@google/genai';
import { LinkedAbort, delay } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import type { LiveInput, ModelRequest, ModelResponse } from '../../core/model.ts';
import { LiveConnection } from './gemini-live-connection.ts';
import { closedError, isTransient, openError } from './gemini-live-errors.ts';
import { type LiveReader, liveReader } from './gemini-live-messages.ts';
import { ReplayBuffer } from './gemini-live-replay.ts';
import { sendLive } from './gemini-live-send.ts';
import { toLiveConfig } from './gemini-live-setup.ts';
import { type GeminiService, toGeminiTurns } from './gemini-request.ts';

/** Failed connections in a row before the conversation fails. */
const maxTries = 5;
const firstDelayMs = 250;
/** A connection that lasted so long counts as successful, even without messages. */
const longEnoughMs = 30_000;
/** How often sending is retried while the send buffer is full. */
const sendAgainMs = 50;

export interface GeminiLiveOptions {
  readonly ai: GoogleGenAI;
  readonly service: GeminiService;
  /** Texts to remove from errors, such as the key. */
  readonly secrets: readonly (string | undefined)[];
}

/**
 * A live conversation with a Gemini model over the Live API. When a connection breaks, or the provider announces its end,
 * a new connection continues the conversation. Throws ModelError.
 */
export async function* geminiLive(
  request: ModelRequest,
  input: AsyncIterable<LiveInput>,
  { signal, ...options }: GeminiLiveOptions & { readonly signal: AbortSignal },
): AsyncGenerator<ModelResponse, void, void> {
  signal.throwIfAborted();
  using session = new GeminiLiveSession(request, options, signal);
  yield* session.responses(input);
}

/** One conversation, over one or more connections. */
class GeminiLiveSession implements Disposable {
  readonly #request: ModelRequest;
  readonly #options: GeminiLiveOptions;
  readonly #abort: LinkedAbort;
  readonly #replayBuffer: ReplayBuffer;
  #connection: LiveConnection | undefined;
  #connectionOpened: (() => void) | undefined;
  #inputEnd: { readonly error?: unknown } | undefined;
  #tries = 0;

  constructor(request: ModelRequest, options: GeminiLiveOptions, signal: AbortSignal) {
    this.#request = request;
    this.#options = options;
    this.#abort = new LinkedAbort(signal);
    const resumption = request.liveConfig?.['sessionResumption'];
    this.#replayBuffer = new ReplayBuffer(resumption as { handle?: string } | false | undefined);
    this.#abort.signal.addEventListener('abort', this.#wakeAll, { once: true });
  }

  [Symbol.dispose](): void {
    this.#connection?.close();
    this.#abort.abort(new AppError('run_cancelled', 'The conversation is over'));
    this.#abort[Symbol.dispose]();
  }

  async *responses(input: AsyncIterable<LiveInput>): AsyncGenerator<ModelResponse, void, void> {
    let isFirst = true;
    for (;;) {
      const connection = await this.#open();
      if (!connection) return;
      this.#start(connection, isFirst);
      // Not awaited: it ends with its input or the conversation, and reports failures in #inputEnd.
      if (isFirst) void this.#forwardInput(input);
      isFirst = false;
      const reader = liveReader();
      const continues = yield* this.#read(connection, reader);
      this.#connection = undefined;
      connection.close();
      if (!continues) return;
      if (reader.isAnswering) yield { interrupted: true };
    }
  }

  /** Yields the responses of one connection. Returns whether the conversation continues over another one. */
  async *#read(connection: LiveConnection, reader: LiveReader): AsyncGenerator<ModelResponse, boolean, void> {
    const openedAt = performance.now();
    let isLeaving = false;
    for (;;) {
      const message = await connection.next();
      this.#throwIfEnded();
      for (const response of message ? reader.read(message) : connection.end ? reader.flush() : []) {
        this.#replayBuffer.received(response);
        if (response.content ?? response.outputTranscription ?? response.inputTranscription) this.#tries = 0;
        if (response.goAway) isLeaving = true;
        yield response;
      }
      if (this.#inputEnd) {
        yield* reader.flush();
        return false;
      }
      if (!message && connection.end) {
        if (!isLeaving && connection.end.code === 1000) return false;
        const error = closedError(connection.end, this.#options.secrets);
        if (performance.now() - openedAt > longEnoughMs) this.#tries = 0;
        if (this.#tries > maxTries || (!isLeaving && !isTransient(error))) throw error;
        return true;
      }
      if (isLeaving && !reader.isAnswering && !this.#replayBuffer.isAnswerDue) {
        yield* reader.flush();
        return true;
      }
    }
  }

  /** Opens a connection, with retries. `undefined` when the client has left meanwhile. */
  async #open(): Promise<LiveConnection | undefined> {
    const { ai, service, secrets } = this.#options;
    const { signal } = this.#abort;
    for (;;) {
      const delayMs = this.#tries < 2 ? 0 : firstDelayMs * 2 ** (this.#tries - 2);
      if (delayMs > 0) await delay(delayMs, signal);
      if (this.#inputEnd) return undefined;
      this.#tries += 1;
      try {
        const config = toLiveConfig(this.#request, service, this.#replayBuffer.handle);
        return await LiveConnection.open(ai, { model: this.#request.model, config }, signal);
      } catch (error) {
        signal.throwIfAborted();
        const failure = openError(error, secrets);
        if (!isTransient(failure) || this.#tries > maxTries) throw failure;
        this.#request.onRetry?.({ attempt: this.#tries, delayMs, error: failure });
      }
    }
  }

  /** Sends the history on the first connection, and the lost inputs on later ones. */
  #start(connection: LiveConnection, isFirst: boolean): void {
    const { history, inputs } = isFirst ? { history: [], inputs: [] } : this.#replayBuffer.replay();
    const isKnown = this.#replayBuffer.handle !== undefined;
    const contents = [...(isKnown ? [] : this.#request.contents), ...history];
    if (contents.length > 0) {
      const turns = toGeminiTurns(contents, this.#options.service);
      const turnComplete = inputs.length === 0 && turns.at(-1)?.role === 'user';
      if (turns.length > 0) connection.session.sendClientContent({ turns, turnComplete });
    }
    for (const input of inputs) this.#send(connection, input);
    this.#connection = connection;
    this.#connectionOpened?.();
  }

  /** Forwards the client's input to the current connection. */
  async #forwardInput(input: AsyncIterable<LiveInput>): Promise<void> {
    try {
      for await (const one of input) {
        const connection = await this.#readyConnection();
        if (!connection) return;
        this.#replayBuffer.sent(one);
        this.#send(connection, one);
      }
      this.#inputEnd = {};
    } catch (error) {
      this.#inputEnd = { error };
    }
    this.#wakeAll();
  }

  #send(connection: LiveConnection, input: LiveInput): void {
    // Input for a closed connection is in the replay buffer, and is sent over the next one.
    if (!connection.end)
      sendLive(connection.session, input, { model: this.#request.model, service: this.#options.service });
  }

  /** Waits for a connection whose send buffer is not full. `undefined` when the conversation has ended. */
  async #readyConnection(): Promise<LiveConnection | undefined> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      if (!this.#connection) await new Promise<void>((resolve) => (this.#connectionOpened = resolve));
      else if (this.#connection.isCongested) await delay(sendAgainMs, signal).catch(() => {});
      else return this.#connection;
    }
    return undefined;
  }

  #throwIfEnded(): void {
    this.#abort.signal.throwIfAborted();
    const failure = this.#inputEnd;
    if (failure?.error !== undefined) throw failure.error;
  }

  readonly #wakeAll = (): void => {
    this.#connection?.interrupt();
    this.#connectionOpened?.();
  };
}
