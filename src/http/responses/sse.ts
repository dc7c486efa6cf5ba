import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorPolicy } from '../../base/error-policy.ts';
import { AppError } from '../../base/errors.ts';
import { endOfIteration } from '../../base/event-loop.ts';
import type { StreamedEvent } from '../../core/runs.ts';
import { eventJson, storedEventJson } from '../../schemas/event.ts';
import type { ActiveRun } from '../active-runs.ts';
import type { PendingRun } from '../deps.ts';
import { errorFrame } from '../errors/problems.ts';
import { setRunIdHeader } from './run-headers.ts';
import { positionText } from './stream-position.ts';
import type { Ticker, Tickable } from './ticker.ts';

const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no', // nginx would hold events back
};

/** Characters collected before they are written and other work may run: a run can produce without a pause. */
const batchLength = 32 * 1024;

export interface SseOptions {
  readonly ticker: Ticker;
  /** Ticks without a frame before a comment is sent. */
  readonly keepAliveTicks: number;
  /** Ticks without reading before the client is disconnected: `stallMs` in `deps.ts`, 60 s. */
  readonly stallTicks: number;
  /** Decides what clients see of a run that fails. */
  readonly errors: ErrorPolicy;
  /** When the credential of a request expires, in milliseconds since the epoch. Absent: no request has one. */
  expiryOf?(request: FastifyRequest): number | undefined;
}

/**
 * Sends the events of a queued run, a frame each, no faster than the client reads. The response begins when the run does, or
 * when it has to wait, so that no proxy takes the silence for an end; what fails before is thrown, and what fails later is
 * the last frame. Returns that failure when the run is over, whether or not the client still reads.
 */
export async function sendRun(
  reply: FastifyReply,
  pending: PendingRun,
  run: ActiveRun,
  options: SseOptions,
): Promise<unknown> {
  const open: { stream?: EventStream } = {};
  const begin = (): EventStream => {
    if (open.stream) return open.stream;
    setRunIdHeader(reply, pending.runId);
    return (open.stream = new EventStream(reply, options));
  };
  let { isWaiting } = pending;
  let failure: unknown;
  try {
    // An error that ends the wait at once, such as an unknown session, comes before the end of the iteration.
    if (isWaiting) void endOfIteration().then(() => isWaiting && begin());
    const events = await pending.begin();
    run.begun();
    isWaiting = false;
    const stream = begin();
    for await (const event of events) {
      run.signal.throwIfAborted();
      if (run.clientLeft) continue; // pulls a detached run to its end
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

/** Sends the events of a background run as frames with ids, until the run ends or the client disconnects. */
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

const expired = (): AppError => new AppError('unauthenticated', 'The credential has expired');

const failureText = (error: AppError): string => `data: ${JSON.stringify(errorFrame(error))}\n\n`;

/**
 * Writes an event stream. All frames sent until the next `process.nextTick` leave in one write; a single frame leaves at
 * once. A write never contains part of a frame. `tick`, `quietTicks` and `stallTicks` mean another thing: the intervals of
 * the one timer of all streams (`Ticker`), which sends keep-alive comments and disconnects clients that do not read.
 */
export class EventStream implements Tickable {
  previous: Tickable | undefined = undefined;
  next: Tickable | undefined = undefined;
  #pending = '';
  #isOver = false;
  /** Whether the socket's buffer is full, because the client reads too slowly. */
  #isFull = false;
  readonly #response: ServerResponse;
  readonly #options: SseOptions;
  readonly #expiresAt: number | undefined;
  /** Ticks since the last frame was sent, and since the client last read. */
  #quietTicks = 0;
  #unreadTicks = 0;
  #wake: (() => void) | undefined;

  constructor(reply: FastifyReply, options: SseOptions) {
    const response = reply.raw;
    this.#response = response;
    this.#options = options;
    this.#expiresAt = options.expiryOf?.(reply.request);
    reply.hijack();
    response.on('drain', this.#onReady);
    response.on('error', this.#onReady); // a write to a closed socket: `close` follows
    response.once('close', this.#onReady);
    if (!response.destroyed) {
      response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...eventStreamHeaders });
      process.nextTick(flush, this); // the headers, together with the first events if there are any
    }
    options.ticker.join(this);
  }

  /** Queues a frame. Returns whether more may be sent at once; otherwise wait for `ready`. */
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

  /** Resolves when the socket has space or is closed, after other work has run. */
  ready(): Promise<void> {
    if (this.#response.destroyed || !this.#isFull) return nextIteration();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  end(): void {
    this.#isOver = true;
    this.#options.ticker.leave(this);
    if (!this.#response.destroyed) this.#response.end(this.#pending);
  }

  tick(): void {
    this.#quietTicks += 1;
    if (this.#expiresAt !== undefined && Date.now() >= this.#expiresAt) {
      this.#expire();
    } else if (this.#isFull) {
      this.#unreadTicks += 1;
      if (this.#unreadTicks >= this.#options.stallTicks) this.#response.destroy();
    } else if (this.#quietTicks >= this.#options.keepAliveTicks) {
      this.send(': keep-alive\n\n');
    }
  }

  /** Ends the stream with an error; to the run it is as if the client left. */
  #expire(): void {
    if (this.#isOver) return;
    this.send(failureText(expired()));
    this.flush();
    this.#isOver = true;
    const { socket } = this.#response;
    if (socket && !this.#isFull) socket.destroySoon();
    else this.#response.destroy();
  }

  readonly #onReady = (): void => {
    this.#isFull = false;
    this.#unreadTicks = 0;
    this.#wake?.();
    this.#wake = undefined;
  };
}

const flush = (stream: EventStream): void => stream.flush();
