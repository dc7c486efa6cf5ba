import { abortable } from '../../base/abort.ts';
import { AppError, errorText } from '../../base/errors.ts';
import type { RunLog } from '../../core/runtime.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { McpOptions } from './options.ts';
import { backoffAfter, type SessionPool, type SessionSlot } from './pool.ts';
import type { ListKind, McpSession, RequestLimit } from './session.ts';

/** Servers list less; what never ends is cut off here. */
const maxPages = 64;
const maxItems = 2000;

export interface ListRequest {
  readonly signal: AbortSignal;
  readonly log?: RunLog | undefined;
}

/** Loading serves whoever asks meanwhile, so no single run ends it; its time limit does. */
const noSignal = new AbortController().signal;

/**
 * What servers list: the items of one kind as they came, kept until the server says that they changed, their time is
 * over or the session is another one. While the server cannot be asked, the last list goes on being used.
 */
export class McpLists {
  readonly #options: McpOptions;
  readonly #pool: SessionPool;

  constructor(options: McpOptions, pool: SessionPool) {
    this.#options = options;
    this.#pool = pool;
  }

  /** Throws McpToolLoadingException or one of the initialization errors when there is no list to give. */
  async get(slot: SessionSlot, kind: ListKind, { signal, log }: ListRequest): Promise<readonly unknown[]> {
    const kept = slot.lists.get(kind);
    const { listTtlMs = Infinity } = this.#options;
    if (kept && kept.session === slot.session && kept.session.isOpen && !kept.session.changed.has(kind)) {
      if (performance.now() - kept.at < listTtlMs) return kept.items;
    }
    let loading = slot.loading.get(kind);
    if (!loading) {
      loading = this.#load(slot, kind).finally(() => slot.loading.delete(kind));
      slot.loading.set(kind, loading);
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

  async #load(slot: SessionSlot, kind: ListKind): Promise<readonly unknown[]> {
    const { name, timeouts } = this.#options;
    const limit = { signal: noSignal, ms: timeouts.listMs, what: `The MCP server "${name}"` };
    const before = slot.backoffs.get(kind);
    if (before && performance.now() < before.until) throw before.error;
    slot.backoffs.delete(kind);
    const began = performance.now();
    const loading = this.#pool.use(slot, { signal: noSignal, code: 'McpToolLoadingException' }, async (session) => {
      session.changed.delete(kind);
      const items = await withTimeLimit(limit, (signal) => allPages(session, kind, { signal, ms: 2 * limit.ms }));
      slot.lists.set(kind, { items, session, at: performance.now() });
      return items;
    });
    return loading.catch((error: unknown) => {
      const failure = backoffAfter(error, began);
      if (failure) slot.backoffs.set(kind, failure);
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
    // Not in one go: a call takes no more than some 100,000 arguments.
    if (Array.isArray(listed)) for (const item of listed.slice(0, maxItems - items.length)) items.push(item);
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === '') break;
  }
  return items;
}
