import type { Session, SessionOwner } from '../../../src/schemas/session.ts';
import { ApiError, getJson, path } from './server.ts';
import { listSessions } from './sessions.ts';

/** A session in the list. */
export interface SessionSummary {
  readonly id: string;
  readonly title: string;
  readonly titleSource: 'name' | 'message' | 'id';
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number;
  readonly eventCount?: number;
  /** The text of an event that matches the search. */
  readonly match?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface SummaryPage {
  readonly sessions: readonly SessionSummary[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** A page of sessions, newest first; `search` searches titles and texts. */
export async function listSummaries(
  owner: SessionOwner,
  { search = '', cursor = '' }: { search?: string; cursor?: string },
  signal?: AbortSignal,
): Promise<SummaryPage> {
  const query = new URLSearchParams({ pageSize: '50', ...(search && { q: search }), ...(cursor && { cursor }) });
  const where = path`apps/${owner.appName}/users/${owner.userId}/session-summaries`;
  try {
    return await getJson<SummaryPage>(`${where}?${query}`, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    // A server without summaries has all sessions at once, and only their titles to search in.
    const sessions = (await listSessions(owner, signal)).map(summaryOf);
    return { sessions: sessions.filter(({ title }) => title.toLowerCase().includes(search.toLowerCase())) };
  }
}

function summaryOf({ id, state, lastUpdateTime }: Session): SessionSummary {
  const metadata = (state['__session_metadata__'] ?? {}) as { displayName?: string };
  const { displayName } = metadata;
  return {
    id,
    title: displayName ?? id,
    titleSource: displayName ? 'name' : 'id',
    lastUpdateTime,
    metadata: { ...metadata },
  };
}
