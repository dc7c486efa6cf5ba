import { useInfiniteQuery } from '@tanstack/react-query';
import { GitFork, Pin, Plus, Upload } from 'lucide-react';
import { useDeferredValue, useRef, useState } from 'react';
import { listSummaries, type SessionSummary } from '../api/summaries.ts';
import { shownDay, shownTime } from '../parts/numbers.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { Link } from './link.tsx';
import { to, useLocation } from './location.ts';
import { callerMayUse } from './login/me.ts';
import { sessionAddress, sessionIn, shownTitle } from './names.ts';
import { summariesKey } from './queries.ts';
import { importFile, useRemoved } from './session-actions.ts';
import { SessionMenu } from './session-menu.tsx';
import { useSettings } from './settings.ts';

const rowHeight = 34;

/** The sessions of an app's user: searched in titles and texts, pinned ones first, then the newest. */
export function SessionList({ app }: { readonly app: string }) {
  const { path } = useLocation();
  const { userId, pinned } = useSettings();
  const key = sessionIn(path);
  const owner = { appName: app, userId: key?.userId ?? userId };
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed).trim();
  const file = useRef<HTMLInputElement>(null);
  const query = useInfiniteQuery({
    queryKey: [...summariesKey(owner), search],
    queryFn: ({ signal, pageParam }) => listSummaries(owner, { search, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ cursor }) => cursor,
    refetchInterval: 10_000,
    placeholderData: (before) => before,
  });
  const removed = useRemoved((state) => state.ids);
  const isPinned = ({ id }: SessionSummary): boolean => pinned.includes(id);
  const found = (query.data?.pages ?? []).flatMap((page) => page.sessions).filter(({ id }) => !removed.includes(id));
  const sessions = [...found.filter(isPinned), ...found.filter((session) => !isPinned(session))];
  return (
    <section className="nav-section nav-sessions">
      <div className="row">
        <h2 className="nav-title grow">Sessions</h2>
        <input
          ref={file}
          type="file"
          accept="application/json,.json"
          hidden
          onChange={(event) => {
            void importFile(owner, event.target.files?.[0]); // failures show as a toast
            event.target.value = '';
          }}
        />
        {callerMayUse('import') && (
          <button
            type="button"
            className="icon-button"
            aria-label="Import a session"
            title="Import a session"
            onClick={() => file.current?.click()}
          >
            <Upload size={14} aria-hidden />
          </button>
        )}
        <Link to={to('/apps/:app', { app })} className="icon-button" aria-label="New session" title="New session (n)">
          <Plus size={14} aria-hidden />
        </Link>
      </div>
      <input
        type="search"
        className="input small"
        placeholder="Search sessions"
        aria-label="Search sessions"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {query.isPending && <Loading label="Loading sessions" />}
      {query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && sessions.length === 0 && !query.hasNextPage && (
        <p className="meta nav-note">{search === '' ? 'No sessions yet. Write the first message.' : 'No matches.'}</p>
      )}
      <VirtualList
        className="nav-session-list"
        items={sessions}
        keyOf={(session) => session.id}
        height={rowHeight}
        label="Sessions"
        render={(session) => (
          <div className="nav-entry" data-current={session.id === key?.sessionId}>
            <Link
              to={sessionAddress({ ...owner, sessionId: session.id })}
              className="nav-link"
              aria-current={session.id === key?.sessionId ? 'page' : undefined}
              title={hintOf(session)}
            >
              {isPinned(session) && <Pin size={12} aria-label="pinned" />}
              {session.metadata?.['forkedFrom'] !== undefined && <GitFork size={12} aria-label="fork" />}
              <span className="truncate">{session.match ?? shownTitle(session)}</span>
            </Link>
            <SessionMenu session={session} owner={owner} />
          </div>
        )}
      />
      {query.hasNextPage && (
        <button type="button" className="button small" onClick={() => void query.fetchNextPage()}>
          Older sessions
        </button>
      )}
    </section>
  );
}

function hintOf(session: SessionSummary): string {
  const { lastUpdateTime, eventCount, metadata } = session;
  const change = metadata?.['change'];
  return [
    shownTitle(session),
    ...(typeof change === 'string' ? [change] : []),
    `${shownDay(lastUpdateTime)} ${shownTime(lastUpdateTime)}`,
    ...(eventCount === undefined ? [] : [`${eventCount} events`]),
  ].join(' · ');
}
