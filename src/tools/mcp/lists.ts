import { abortable } from '../../base/abort.ts';
import { AppError, errorText } from '../../base/errors.ts';
import type { RunLog } from '../../core/runtime.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { McpOptions } from './connection/options.ts';
import { backoffAfter, type SessionPool, type PooledSession } from './connection/pool.ts';
import type { ListKind, McpSession, RequestLimit } from './connection/session.ts';

/** Real servers list less; this ends endless lists. */
const maxPages = 64;
const maxItems = 2000;

export interface ListRequest {
  readonly signal: AbortSignal;
  readonly log?: RunLog | undefined;
}

/** A load is shared by several runs, so only its time limit ends it, and no run's signal. */
const noSignal = new AbortController().signal;

/**
 * The lists of a server: the unchanged items of one kind. A list is cached until the server reports a change, its TTL
 * ends or the session is replaced. While the server is unreachable, the last list is used.
 */
export class McpLists {
  readonly #options: McpOptions;
  readonly #pool: SessionPool;

  constructor(options: McpOptions, pool: SessionPool) {
    this.#options = options;
    this.#pool = pool;
  }

  /** Throws McpToolLoadingException or an initialization error when there is neither a list nor a cached one. */
  async get(pooled: PooledSession, kind: ListKind, { signal, log }: ListRequest): Promise<readonly unknown[]> {
    const kept = pooled.lists.get(kind);
    const { listTtlMs = Infinity } = this.#options;
    if (kept && kept.session === pooled.session && kept.session.isOpen && !kept.session.changed.has(kind)) {
      if (performance.now() - kept.at < listTtlMs) return kept.items;
    }
    let loading = pooled.loading.get(kind);
    if (!loading) {
      loading = this.#load(pooled, kind).finally(() => pooled.loading.delete(kind));
      pooled.loading.set(kind, loading);
    }
    try {
      return await abortable(loading, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!kept) throw error;
      const code = error instanceof AppError ? error.code : undefined;
      log?.warn(
        { server: this.#options.name, code, reason: errorText(error) },
        'an MCP server cannot be asked what it offers',
      );
      return kept.items;
    }
  }

  async #load(pooled: PooledSession, kind: ListKind): Promise<readonly unknown[]> {
    const { name, timeouts } = this.#options;
    const limit = { signal: noSignal, ms: timeouts.listMs, what: `The MCP server "${name}"` };
    const before = pooled.backoffs.get(kind);
    if (before && performance.now() < before.until) throw before.error;
    pooled.backoffs.delete(kind);
    const began = performance.now();
    const loading = this.#pool.use(pooled, { signal: noSignal, code: 'McpToolLoadingException' }, async (session) => {
      session.changed.delete(kind);
      const items = await withTimeLimit(limit, (signal) => allPages(session, kind, { signal, ms: 2 * limit.ms }));
      pooled.lists.set(kind, { items, session, at: performance.now() });
      return items;
    });
    return loading.catch((error: unknown) => {
      const failure = backoffAfter(error, began);
      if (failure) pooled.backoffs.set(kind, failure);
      throw error;
    });
  }
}

async function allPages(session: McpSession, kind: ListKind, limit: RequestLimit): Promise<readonly unknown[]> {
  if (!session.offers(kind)) return [];
  const items: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && items.length < maxItems; page += 1) {
    const result = await session.listPage(kind, cursor, limit);
    const listed = result[kind];
    // No spread: a call accepts only about 100,000 arguments.
    if (Array.isArray(listed)) for (const item of listed.slice(0, maxItems - items.length)) items.push(item);
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === '') break;
  }
  return items;
}
