import type { ServerResponse } from 'node:http';
import { AppError } from '../base/errors.ts';
import { endOfIteration } from '../base/event-loop.ts';
import { LinkedList, type ListNode } from '../base/linked-list.ts';
import { startTimer } from '../base/timers.ts';
import type { RunTicket } from '../core/runs.ts';
import type { OnDisconnect } from '../schemas/run.ts';

const lastFramesMs = 2_000;

/** The active runs that were started by an open request, including those whose client has disconnected. */
export class ActiveRuns {
  readonly #open = new LinkedList<ActiveRun>();
  readonly #detachedMs: number;
  #empty: (() => void) | undefined;

  /** `detachedMs`: how long a run may continue after its client disconnected. */
  constructor(detachedMs: number) {
    this.#detachedMs = detachedMs;
  }

  /** Registers a run that writes to this response. Call its `done` when it ends; that returns its ticket, too. */
  open(response: ServerResponse, onDisconnect: OnDisconnect = 'cancel', ticket?: RunTicket): ActiveRun {
    const detachedMs = onDisconnect === 'continue' ? this.#detachedMs : 0;
    const run = new ActiveRun(this, response, { detachedMs, ticket });
    this.#open.add(run);
    return run;
  }

  /** Called by a run that is done. */
  close(run: ActiveRun): void {
    this.#open.remove(run);
    if (this.#open.size === 0) this.#empty?.();
  }

  /** Waits `graceMs` for the runs to end, then cancels the others and lets them write their last frames. */
  async drain(graceMs: number): Promise<void> {
    if (!(await this.#ended(graceMs))) {
      for (const run of this.#open.all()) run.cancel('The server is shutting down');
      await this.#ended(lastFramesMs);
    }
    await endOfIteration(); // when the last response is made
    await endOfIteration(); // and when it has left
  }

  #ended(limitMs: number): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = startTimer(() => resolve(false), limitMs);
      this.#empty = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

/** One run and the client that waits for its response. */
export class ActiveRun implements ListNode<ActiveRun> {
  previous: ActiveRun | undefined = undefined;
  next: ActiveRun | undefined = undefined;
  readonly #controller = new AbortController();
  readonly #runs: ActiveRuns;
  readonly #response: ServerResponse;
  readonly #detachedMs: number;
  readonly #ticket: RunTicket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #clientLeft = false;

  constructor(
    runs: ActiveRuns,
    response: ServerResponse,
    { detachedMs, ticket }: { readonly detachedMs: number; readonly ticket: RunTicket | undefined },
  ) {
    this.#runs = runs;
    this.#response = response;
    this.#detachedMs = detachedMs;
    this.#ticket = ticket;
    // We watch the response: Fastify's `request.signal` aborts as soon as the body of a POST was read (fastify#6725).
    response.once('close', this.#onClose);
    if (response.destroyed) this.#onClose();
  }

  /** Aborts when the client disconnects, or when the server closes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the client has disconnected. */
  get clientLeft(): boolean {
    return this.#clientLeft;
  }

  cancel(reason: string): void {
    this.#controller.abort(new AppError('run_cancelled', reason));
  }

  /** The run has its session. */
  begun(): void {
    this.#ticket?.begun();
  }

  done(): void {
    clearTimeout(this.#timer);
    this.#response.off('close', this.#onClose);
    this.#runs.close(this);
    this.#ticket?.ended();
  }

  readonly #onClose = (): void => {
    if (this.#response.writableEnded) return;
    this.#clientLeft = true;
    if (this.#detachedMs === 0) this.cancel('The client left');
    else this.#timer = startTimer(() => this.cancel('The client left long ago'), this.#detachedMs)?.unref();
  };
}
