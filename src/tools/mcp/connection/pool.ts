import { abortable } from '../../../base/abort.ts';
import { AppError } from '../../../base/errors.ts';
import { failureOf, type McpErrorCode, mcpError } from './failure-kinds.ts';
import type { Headers, McpOptions } from './options.ts';
import { type ListKind, McpSession } from './session.ts';

/** Sessions that are kept. There are more only while all of them are busy. */
const maxSessions = 64;
const pingMs = 3000;

/** The session and the cached lists for one set of headers. */
export interface PooledSession {
  readonly key: string;
  readonly headers: Headers;
  session: McpSession | undefined;
  opening: Promise<McpSession> | undefined;
  /** Whether there has been a session before. */
  hasConnected: boolean;
  busy: number;
  /** Set after a timeout of opening a session: no retry before it ends. */
  backoff: Backoff | undefined;
  readonly lists: Map<ListKind, KeptList>;
  readonly loading: Map<ListKind, Promise<readonly unknown[]>>;
  /** Set for lists whose request timed out: no retry before they end. */
  readonly backoffs: Map<ListKind, Backoff>;
}

export interface Backoff {
  readonly error: unknown;
  readonly until: number;
}

interface Use {
  readonly signal: AbortSignal;
  /** The error code of failures other than opening a session. */
  readonly code?: McpErrorCode;
}
type Work<T> = (session: McpSession) => Promise<T>;

export interface KeptList {
  readonly items: readonly unknown[];
  readonly session: McpSession;
  readonly at: number;
}

/**
 * The sessions with one server. Calls with equal headers share one. A session stays open until the connection fails,
 * `close` is called (reload of the app, shutdown), or more than 64 sets of headers are in use and it is the least
 * recently used idle one; there is no idle timeout. A lost session is replaced on next use, and a request that the server
 * cannot have received is sent once more.
 */
export class SessionPool {
  readonly #options: McpOptions;
  /** By headers; least recently used first. */
  readonly #sessions = new Map<string, PooledSession>();
  readonly #closing = new Set<Promise<void>>();
  #stop = new AbortController();

  constructor(options: McpOptions) {
    this.#options = options;
  }

  sessionFor(headers: Headers): PooledSession {
    const key = JSON.stringify(Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const pooled = this.#sessions.get(key) ?? newPooledSession(key, headers);
    this.#sessions.delete(key);
    this.#sessions.set(key, pooled);
    if (this.#sessions.size > maxSessions) this.#evict();
    return pooled;
  }

  /** Runs `work` with an open session. Throws an MCP error, or the signal's reason. */
  async use<T>(wanted: PooledSession, { signal, code = 'McpToolsetException' }: Use, work: Work<T>): Promise<T> {
    // The pool may have been closed since the lookup. Adding it again lets the next `close` end its session.
    const pooled = this.#sessions.get(wanted.key) ?? wanted;
    this.#sessions.set(pooled.key, pooled);
    pooled.busy += 1;
    try {
      for (let isSecond = false; ; isSecond = true) {
        const before = pooled.session;
        const session = await this.#opened(pooled, signal);
        try {
          return await work(session);
        } catch (error) {
          signal.throwIfAborted();
          const failure = failureOf(error);
          if (failure.isLost) this.#drop(pooled, session);
          session.isSuspect ||= failure.isSuspect;
          if (isSecond || session !== before || !failure.isUnsent) {
            throw mcpError(code, this.#options.name, error);
          }
        }
      }
    } finally {
      pooled.busy -= 1;
    }
  }

  /** Closes every session; resolves once programs have ended. The pool can be used again. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('The toolset is being closed'));
    this.#stop = new AbortController();
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const pooled of sessions) if (pooled.session) this.#drop(pooled, pooled.session);
    await Promise.allSettled(sessions.map((pooled) => pooled.opening));
    while (this.#closing.size > 0) await Promise.allSettled(this.#closing);
  }

  async #opened(pooled: PooledSession, signal: AbortSignal): Promise<McpSession> {
    const { session } = pooled;
    if (session?.isSuspect) {
      session.isSuspect = !(await session.isAlive({ signal, ms: Math.min(pingMs, this.#options.timeouts.connectMs) }));
    }
    if (pooled.session !== session) return this.#opened(pooled, signal);
    if (session?.isOpen && !session.isSuspect) return session;
    if (session) this.#drop(pooled, session);
    pooled.opening ??= this.#open(pooled).finally(() => {
      pooled.opening = undefined;
    });
    return abortable(pooled.opening, signal);
  }

  async #open(pooled: PooledSession): Promise<McpSession> {
    const code = pooled.hasConnected ? 'McpSessionInitializationException' : 'McpInitializationException';
    const { backoff } = pooled;
    if (backoff && performance.now() < backoff.until) throw backoff.error;
    const { signal } = this.#stop;
    const began = performance.now();
    try {
      const released = (done: Promise<void>): void => this.#track(done);
      const session = await McpSession.open(this.#options, pooled.headers, { signal, released });
      if (signal.aborted) {
        this.#track(session.close());
        throw signal.reason;
      }
      pooled.hasConnected = true;
      pooled.backoff = undefined;
      pooled.session = session;
      return session;
    } catch (cause) {
      const error = mcpError(code, this.#options.name, cause);
      pooled.backoff = backoffAfter(error, began);
      throw error;
    }
  }

  #drop(pooled: PooledSession, session: McpSession): void {
    if (pooled.session === session) pooled.session = undefined;
    this.#track(session.close());
  }

  #track(closing: Promise<void>): void {
    const done = closing.then(undefined, () => {}).finally(() => this.#closing.delete(done));
    this.#closing.add(done);
  }

  #evict(): void {
    for (const [key, pooled] of this.#sessions) {
      if (pooled.busy > 0 || pooled.opening) continue;
      this.#sessions.delete(key);
      if (pooled.session) this.#drop(pooled, pooled.session);
      return;
    }
  }
}

/** A backoff after a timeout: for as long as this call waited, later calls fail at once. */
export function backoffAfter(error: unknown, began: number): Backoff | undefined {
  const cause = error instanceof AppError ? error.cause : undefined;
  if (!(cause instanceof AppError) || cause.code !== 'timed_out') return undefined;
  const now = performance.now();
  return { error, until: now + (now - began) };
}

const newPooledSession = (key: string, headers: Headers): PooledSession => ({
  key,
  headers,
  session: undefined,
  opening: undefined,
  hasConnected: false,
  busy: 0,
  backoff: undefined,
  lists: new Map(),
  loading: new Map(),
  backoffs: new Map(),
});
