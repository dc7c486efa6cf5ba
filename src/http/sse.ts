import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { ErrorPolicy } from '../base/error-policy.ts';
import type { AppError } from '../base/errors.ts';
import type { StreamedEvent } from '../core/runs.ts';
import { eventJson, storedEventJson } from '../schemas/event.ts';
import type { ActiveRun } from './active-runs.ts';
import type { RunEvents } from './deps.ts';
import { endOfTurn } from './end-of-turn.ts';
import { errorFrame } from './problems.ts';
import { setRunIdHeader } from './run-headers.ts';
import { positionText } from './stream-position.ts';
import type { Ticker, Tickable } from './ticker.ts';

const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no', // nginx would hold events back
};

/** Characters that are gathered before they leave and others get their turn: a run can produce without a pause. */
const batchLength = 32 * 1024;

export interface SseOptions {
  readonly ticker: Ticker;
  /** Beats of silence before a comment is sent. */
  readonly keepAliveTicks: number;
  /** Beats a client may leave the stream unread before it is cut. */
  readonly stallTicks: number;
  /** Decides what clients see of a run that fails. */
  readonly errors: ErrorPolicy;
}

/** Begins a run; `onQueued` is to be called when it has to wait for its turn. */
export type StartRun = (onQueued: (runId: string) => void) => Promise<RunEvents>;

/**
 * Starts a run and sends its events, a frame each, no faster than the client reads. The response begins when the run
 * does, or when it has to wait, so that no proxy takes the silence for an end; what fails before is thrown, and what
 * fails later is the last frame. Returns that failure when the run is over, whether or not somebody still reads.
 */
export async function sendRun(
  reply: FastifyReply,
  start: StartRun,
  run: ActiveRun,
  options: SseOptions,
): Promise<unknown> {
  const open: { stream?: EventStream } = {};
  const begin = (runId: string): EventStream => {
    if (open.stream) return open.stream;
    setRunIdHeader(reply, runId);
    return (open.stream = new EventStream(reply, options));
  };
  let isWaiting = true;
  let failure: unknown;
  try {
    const events = await start((runId) => {
      // What turns a run away after all, such as an unknown session, does so by then.
      void endOfTurn().then(() => isWaiting && begin(runId));
    });
    isWaiting = false;
    const stream = begin(events.invocationId);
    for await (const event of events) {
      run.signal.throwIfAborted();
      if (run.clientLeft) continue; // a run that may go on is pulled to its end all the same
      if (!stream.send(`data: ${eventJson(event)}\n\n`)) await stream.ready();
    }
    run.signal.throwIfAborted();
  } catch (error) {
    isWaiting = false;
    if (!open.stream) throw error;
    const shown = options.errors.report(error);
    failure = shown;
    if (!run.clientLeft) open.stream.send(failureText(shown));
  } finally {
    open.stream?.end();
  }
  return failure;
}

/** Sends the frames of a run that goes on by itself, with ids to come back with, as long as somebody reads. */
export async function sendFrames(
  reply: FastifyReply,
  frames: AsyncIterable<StreamedEvent>,
  { runId, signal }: { readonly runId: string; readonly signal: AbortSignal },
  options: SseOptions,
): Promise<void> {
  const stream = new EventStream(reply, options);
  try {
    for await (const frame of frames) {
      const text = `id: ${positionText(runId, frame)}\ndata: ${storedEventJson(frame.event)}\n\n`;
      if (!stream.send(text)) await stream.ready();
    }
  } catch (error) {
    if (!signal.aborted) stream.send(failureText(options.errors.report(error)));
  } finally {
    stream.end();
  }
}

const failureText = (error: AppError): string => `data: ${JSON.stringify(errorFrame(error))}\n\n`;

/**
 * The writing end of a response that stays open. What is sent before the event loop turns leaves in one write, always
 * of whole frames: an event that comes alone leaves alone and at once.
 */
export class EventStream implements Tickable {
  place = 0;
  #pending = '';
  #isOver = false;
  /** The client has not taken what was written. */
  #isFull = false;
  readonly #response: ServerResponse;
  readonly #options: SseOptions;
  /** Beats since something was sent, and since the client last took what was. */
  #quietTicks = 0;
  #unreadTicks = 0;
  #wake: (() => void) | undefined;

  constructor(reply: FastifyReply, options: SseOptions) {
    const response = reply.raw;
    this.#response = response;
    this.#options = options;
    reply.hijack();
    response.on('drain', this.#onReady);
    response.on('error', this.#onReady); // a write that meets a closed socket: `close` says the rest
    response.once('close', this.#onReady);
    if (!response.destroyed) {
      response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...eventStreamHeaders });
      process.nextTick(flush, this); // with the first events if they are there by then
    }
    options.ticker.join(this);
  }

  /** Whether to go on at once: otherwise wait for `ready`. */
  send(text: string): boolean {
    this.#quietTicks = 0;
    if (this.#pending === '') process.nextTick(flush, this);
    this.#pending += text;
    if (this.#pending.length < batchLength) return !this.#isFull;
    this.flush();
    return false;
  }

  flush(): void {
    if (this.#isOver || this.#response.destroyed) return;
    if (this.#pending === '') this.#response.flushHeaders();
    else if (!this.#response.write(this.#pending)) this.#isFull = true;
    this.#pending = '';
  }

  /** Resolves when there is room again, or nobody left to read, and others had their turn. */
  ready(): Promise<void> {
    if (this.#response.destroyed || !this.#isFull) return nextTurn();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  end(): void {
    this.#isOver = true;
    this.#options.ticker.leave(this);
    if (!this.#response.destroyed) this.#response.end(this.#pending);
  }

  tick(): void {
    this.#quietTicks += 1;
    if (this.#isFull) {
      this.#unreadTicks += 1;
      if (this.#unreadTicks >= this.#options.stallTicks) this.#response.destroy();
    } else if (this.#quietTicks >= this.#options.keepAliveTicks) {
      this.send(': keep-alive\n\n');
    }
  }

  readonly #onReady = (): void => {
    this.#isFull = false;
    this.#unreadTicks = 0;
    this.#wake?.();
    this.#wake = undefined;
  };
}

const flush = (stream: EventStream): void => stream.flush();
