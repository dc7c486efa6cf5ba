import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import type { ErrorPolicy } from '../../base/error-policy.ts';
import { AppError, describeError } from '../../base/errors.ts';
import { longestTimerMs } from '../../base/timers.ts';
import type { Log } from '../../core/log.ts';
import type { LiveInput } from '../../core/model.ts';
import { type Event, eventJson } from '../../schemas/event.ts';
import type { RunEvents } from '../deps.ts';
import { type ClientMessage, readBinaryFrame, readTextFrame } from './client-message.ts';
import { type Closing, closingFor, fitted } from './close-codes.ts';
import { LiveInbox } from './inbox.ts';

/** Unsent bytes of a slow client. Above it the run waits, and audio is dropped. */
const maxUnreadBytes = 1024 * 1024;
/** How long the run may take to end by itself after the client disconnected. */
const runEndMs = 5_000;

export type StartLive = (input: AsyncIterable<LiveInput>, signal: AbortSignal) => Promise<RunEvents>;

export interface LiveLimits {
  /** Ticks without a frame in either direction after which the connection is closed. */
  readonly idleTicks: number;
  readonly log: Log;
  /** Decides what the client sees of a run that fails. */
  readonly errors: ErrorPolicy;
  /** When the client's credential expires, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  /** The id of the upgrade request, for the log. */
  readonly requestId?: string;
}

/** One live client. Its frames become the input of a run; the run's events become frames. */
export class LiveConnection {
  readonly #socket: WebSocket;
  readonly #tcp: Socket;
  readonly #limits: LiveLimits;
  readonly #inbox: LiveInbox;
  readonly #controller = new AbortController();
  #isOver = false;
  #droppedSounds = 0;
  #isPinged = false;
  #quietTicks = 0;
  #wake: (() => void) | undefined;
  #runTimer: NodeJS.Timeout | undefined;
  readonly #expiry: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, tcp: Socket, limits: LiveLimits) {
    this.#socket = socket;
    this.#tcp = tcp;
    this.#limits = limits;
    this.#inbox = new LiveInbox(() => socket.resume());
    socket.on('message', this.#onMessage);
    socket.on('pong', this.#onPong);
    socket.once('close', this.#onClose);
    tcp.on('drain', this.#onDrain);
    const restMs = (limits.expiresAt ?? Infinity) - Date.now();
    if (restMs > longestTimerMs) return; // an idle connection does not live that long
    const expire = (): void => this.close({ code: 1008, reason: 'The credential has expired' });
    this.#expiry = setTimeout(expire, Math.max(0, restMs)).unref();
  }

  /** Runs the conversation, then closes the connection. Resolves when both have ended; never rejects. */
  async serve(start: StartLive): Promise<void> {
    try {
      const events = await start(this.#inbox, this.#controller.signal);
      for await (const event of events) {
        const caughtUp = this.#send(event);
        if (caughtUp) await caughtUp;
      }
      this.close({ code: 1000, reason: '' });
    } catch (error) {
      const { log, errors, requestId } = this.#limits;
      const shown = errors.report(error);
      const { errorId } = shown;
      if (!this.#isOver && errorId !== undefined) log.error({ errorId, requestId }, 'live run failed');
      this.close(closingFor(shown));
    } finally {
      clearTimeout(this.#runTimer);
      this.#inbox.end();
    }
  }

  /** Tells the client that its message is invalid. The conversation continues. */
  refuse(error: unknown, invalid?: string): void {
    if (this.#isOver) return;
    const { code, message: details } = describeError(error);
    const text = code === 'invalid_request' && invalid !== undefined ? invalid : details;
    this.#socket.send(JSON.stringify({ error: text, details, errorCode: code, errorMessage: details }));
  }

  /** Ends the conversation. An agent that waits for input ends by itself; an active one is cancelled. */
  close({ code, reason }: Closing): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.close(code, fitted(reason));
    this.#leave(reason);
  }

  /** Called at equal intervals. */
  tick(): void {
    if (this.#isOver) return;
    this.#quietTicks += 1;
    if (this.#quietTicks > this.#limits.idleTicks) {
      this.close({ code: 1001, reason: 'The connection was idle for too long' });
    } else if (this.#socket.isPaused) {
      return; // the server itself is not reading, so no pong can arrive
    } else if (this.#isPinged) {
      this.close({ code: 1008, reason: 'The client does not answer, or reads too slowly' });
    } else {
      this.#isPinged = true;
      this.#socket.ping();
    }
  }

  /** Sends an event once the client has caught up. Audio for a slow client is dropped: late, it is useless. */
  #send(event: Event): Promise<void> | void {
    if (this.#isOver) return;
    const isBehind = this.#tcp.writableLength > maxUnreadBytes;
    if (isBehind && isSound(event)) {
      this.#droppedSounds += 1;
      return;
    }
    this.#quietTicks = 0;
    this.#gather();
    this.#socket.send(eventJson(event));
    if (isBehind) return this.#caughtUp();
  }

  /**
   * Sends all frames of one event-loop iteration in one write, together with those of other connections: a write costs
   * more than a frame, and more still if it has to wake the client up.
   */
  #gather(): void {
    if (this.#tcp.writableCorked > 0) return;
    this.#tcp.cork();
    setImmediate(this.#release);
  }

  readonly #release = (): void => this.#tcp.uncork();

  /** Resolves when the client has read everything, or has disconnected. */
  #caughtUp(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  readonly #onMessage = (data: Buffer, isBinary: boolean): void => {
    this.#quietTicks = 0;
    this.#isPinged = false;
    if (this.#isOver) return;
    let message: ClientMessage;
    try {
      message = isBinary ? readBinaryFrame(data) : readTextFrame(data);
    } catch (error) {
      this.refuse(error, 'Invalid JSON format for LiveRequest');
      return;
    }
    if (message.input && !this.#inbox.push(message.input)) this.#socket.pause();
    if (message.closes) this.#inbox.end();
  };

  readonly #onPong = (): void => {
    this.#isPinged = false;
  };

  readonly #onDrain = (): void => {
    this.#wake?.();
    this.#wake = undefined;
  };

  readonly #onClose = (): void => {
    this.#tcp.off('drain', this.#onDrain);
    clearTimeout(this.#expiry);
    const isExpected = this.#isOver;
    this.#isOver = true;
    this.#onDrain();
    if (!isExpected) this.#leave('The client left');
    const dropped = { sent: this.#inbox.dropped, received: this.#droppedSounds };
    if (dropped.sent + dropped.received > 0) {
      this.#limits.log.info({ dropped, requestId: this.#limits.requestId }, 'live media were dropped');
    }
  };

  #leave(reason: string): void {
    const isIdle = this.#inbox.isAwaited;
    this.#inbox.end();
    const cancel = (): void => this.#controller.abort(new AppError('run_cancelled', reason || 'The run has ended'));
    if (isIdle) this.#runTimer = setTimeout(cancel, runEndMs);
    else cancel();
  }
}

/** Whether an event is an audio chunk and nothing else. */
function isSound({ content, partial }: Event): boolean {
  const parts = content?.parts ?? [];
  return (
    partial === true && parts.length > 0 && parts.every(({ inlineData }) => inlineData?.mimeType.startsWith('audio/'))
  );
}
