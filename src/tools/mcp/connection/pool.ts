import { abortable } from '../../../base/abort.ts';
import { AppError } from '../../../base/errors.ts';
import { failureOf, type McpErrorCode, mcpError } from './failure-kinds.ts';
import type { Headers, McpOptions } from './options.ts';
import { type ListKind, McpSession } from './session.ts';

/** Sessions that are kept. There are more only while all of them are busy. */
const maxSlots = 64;
const pingMs = 3000;

/** The session and the cached lists for one set of headers. */
export interface SessionSlot {
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
 * The sessions with one server, one per set of headers. A lost session is replaced on next use, and a request that the
 * server cannot have received is sent once more.
 */
export class SessionPool {
  readonly #options: McpOptions;
  /** By headers; least recently used first. */
  readonly #slots = new Map<string, SessionSlot>();
  readonly #closing = new Set<Promise<void>>();
  #stop = new AbortController();

  constructor(options: McpOptions) {
    this.#options = options;
  }

  slot(headers: Headers): SessionSlot {
    const key = JSON.stringify(Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const slot = this.#slots.get(key) ?? newSlot(key, headers);
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    if (this.#slots.size > maxSlots) this.#evict();
    return slot;
  }

  /** Runs `work` with an open session. Throws an MCP error, or the signal's reason. */
  async use<T>(wanted: SessionSlot, { signal, code = 'McpToolsetException' }: Use, work: Work<T>): Promise<T> {
    // The pool may have been closed since the lookup. Adding the slot again lets the next `close` end its session.
    const slot = this.#slots.get(wanted.key) ?? wanted;
    this.#slots.set(slot.key, slot);
    slot.busy += 1;
    try {
      for (let isSecond = false; ; isSecond = true) {
        const before = slot.session;
        const session = await this.#session(slot, signal);
        try {
          return await work(session);
        } catch (error) {
          signal.throwIfAborted();
          const failure = failureOf(error);
          if (failure.isLost) this.#drop(slot, session);
          session.isSuspect ||= failure.isSuspect;
          if (isSecond || session !== before || !failure.isUnsent) {
            throw mcpError(code, this.#options.name, error);
          }
        }
      }
    } finally {
      slot.busy -= 1;
    }
  }

  /** Closes every session; resolves once programs have ended. The pool can be used again. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('The toolset is being closed'));
    this.#stop = new AbortController();
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    for (const slot of slots) if (slot.session) this.#drop(slot, slot.session);
    await Promise.allSettled(slots.map((slot) => slot.opening));
    while (this.#closing.size > 0) await Promise.allSettled(this.#closing);
  }

  async #session(slot: SessionSlot, signal: AbortSignal): Promise<McpSession> {
    const { session } = slot;
    if (session?.isSuspect) {
      session.isSuspect = !(await session.isAlive({ signal, ms: Math.min(pingMs, this.#options.timeouts.connectMs) }));
    }
    if (slot.session !== session) return this.#session(slot, signal);
    if (session?.isOpen && !session.isSuspect) return session;
    if (session) this.#drop(slot, session);
    slot.opening ??= this.#open(slot).finally(() => {
      slot.opening = undefined;
    });
    return abortable(slot.opening, signal);
  }

  async #open(slot: SessionSlot): Promise<McpSession> {
    const code = slot.hasConnected ? 'McpSessionInitializationException' : 'McpInitializationException';
    const { backoff } = slot;
    if (backoff && performance.now() < backoff.until) throw backoff.error;
    const { signal } = this.#stop;
    const began = performance.now();
    try {
      const released = (done: Promise<void>): void => this.#track(done);
      const session = await McpSession.open(this.#options, slot.headers, { signal, released });
      if (signal.aborted) {
        this.#track(session.close());
        throw signal.reason;
      }
      slot.hasConnected = true;
      slot.backoff = undefined;
      slot.session = session;
      return session;
    } catch (cause) {
      const error = mcpError(code, this.#options.name, cause);
      slot.backoff = backoffAfter(error, began);
      throw error;
    }
  }

  #drop(slot: SessionSlot, session: McpSession): void {
    if (slot.session === session) slot.session = undefined;
    this.#track(session.close());
  }

  #track(closing: Promise<void>): void {
    const done = closing.then(undefined, () => {}).finally(() => this.#closing.delete(done));
    this.#closing.add(done);
  }

  #evict(): void {
    for (const [key, slot] of this.#slots) {
      if (slot.busy > 0 || slot.opening) continue;
      this.#slots.delete(key);
      if (slot.session) this.#drop(slot, slot.session);
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

const newSlot = (key: string, headers: Headers): SessionSlot => ({
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
