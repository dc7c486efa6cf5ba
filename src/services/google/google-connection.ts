import { delay, LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';

/** Returns a token of this machine's Google credential. Throws `unavailable` without one. */
export type GoogleToken = (signal: AbortSignal) => Promise<string>;

export interface GoogleConnectionOptions {
  /** The service as the subject of messages: `The Firestore database "…"`. */
  readonly what: string;
  readonly token: GoogleToken | undefined;
  /** For one request and its response. Default 10,000. */
  readonly timeLimitMs?: number;
}

/** Seconds after which a client may try again. */
const retryAfter = 2;
/** Statuses of temporary failures. Whether the request was executed is unknown. */
const outages = new Set([408, 429, 500, 502, 503, 504]);
/** For how long, and after which waits, requests with such a failure are repeated, in milliseconds. */
const retryMs = 5000;
const pausesMs = [50, 150, 300, 500, 1000, 1000, 1000];

/** Requests to a Google service, with the machine's token and a time limit. Plain HTTP, which emulators use, gets no token. */
export class GoogleConnection {
  readonly #options: GoogleConnectionOptions;
  readonly #closing = new AbortController();

  constructor(options: GoogleConnectionOptions) {
    this.#options = options;
  }

  /**
   * The complete response, also with an error status for the request itself. Throws `unavailable` when the service is
   * unreachable, fails, or rejects the credential.
   */
  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { what, timeLimitMs = 10_000 } = this.#options;
    using abort = new LinkedAbort(this.#closing.signal);
    const timer = setTimeout(() => abort.abort(new Error(`No answer within ${timeLimitMs / 1000} s`)), timeLimitMs);
    let answer: Response;
    try {
      const isPlain = new URL(url).protocol === 'http:';
      const token = isPlain ? 'owner' : await this.#token(abort.signal);
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      const response = await fetch(url, { ...init, headers, redirect: 'error', signal: abort.signal });
      const hasBody = ![204, 205, 304].includes(response.status);
      answer = new Response(hasBody ? await response.arrayBuffer() : null, response);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError('unavailable', `${what} cannot be reached`, { cause: error, retryAfter });
    } finally {
      clearTimeout(timer);
    }
    const refused = answer.status === 401 || answer.status === 403;
    if (!refused && !outages.has(answer.status)) return answer;
    const cause = new Error(`${answer.status} ${(await answer.text()).slice(0, 1000)}`);
    const message = refused ? `${what} refuses the server` : `${what} cannot be reached`;
    throw new AppError('unavailable', message, { cause, retryAfter });
  }

  /** Repeats `act` for about five seconds while it throws `unavailable`, unless the connection is closed. */
  async retryWhileUnavailable<Result>(act: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + retryMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await act();
      } catch (error) {
        const pauseMs = pausesMs[attempt];
        if (pauseMs === undefined || !isUnavailable(error) || performance.now() > until) throw error;
        await this.pause(pauseMs);
      }
    }
  }

  /** Waits. Throws `unavailable` when the connection is closed. */
  async pause(ms: number): Promise<void> {
    try {
      await delay(ms, this.#closing.signal);
    } catch (error) {
      throw new AppError('unavailable', `${this.#options.what} is not used any more`, { cause: error });
    }
  }

  /** Aborts the requests in progress. */
  close(): void {
    this.#closing.abort();
  }

  async #token(signal: AbortSignal): Promise<string> {
    const { what, token } = this.#options;
    if (!token) throw new AppError('unavailable', `${what} needs a Google credential`);
    return token(signal);
  }
}

export const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable';
