import { useQuery } from '@tanstack/react-query';
import { GitFork, Pin, Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { listSessions, type Session } from '../api/sessions.ts';
import { shownDay, shownTime } from '../parts/numbers.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { Link } from './link.tsx';
import { metadataOf, sessionAddress, sessionIn, titleOf } from './names.ts';
import { to, usePlace } from './place.ts';
import { sessionsKey } from './queries.ts';
import { useRemoved } from './session-actions.ts';
import { SessionMenu } from './session-menu.tsx';
import { useSettings } from './settings.ts';

/** The sessions of an app's user: searched by title and id, pinned ones first, then the newest. */
export function SessionList({ app }: { readonly app: string }) {
  const { path } = usePlace();
  const { userId, pinned } = useSettings();
  const key = sessionIn(path);
  const owner = { appName: app, userId: key?.userId ?? userId };
  const [search, setSearch] = useState('');
  const wanted = useDeferredValue(search).trim().toLowerCase();
  const query = useQuery({
    queryKey: sessionsKey(owner),
    queryFn: ({ signal }) => listSessions(owner, signal),
    refetchInterval: 10_000,
  });
  const removed = useRemoved((state) => state.ids);
  const isPinned = ({ id }: Session): boolean => pinned.includes(id);
  const found = (query.data ?? []).filter(
    (session) =>
      !removed.includes(session.id) &&
      (titleOf(session).toLowerCase().includes(wanted) || session.id.toLowerCase().includes(wanted)),
  );
  const sessions = [...found.filter(isPinned), ...found.filter((session) => !isPinned(session))];
  return (
    <section className="nav-section nav-sessions">
      <div className="row">
        <h2 className="nav-title grow">Sessions</h2>
        <Link to={to('/apps/:app', { app })} className="icon-button" aria-label="New session" title="New session (n)">
          <Plus size={14} aria-hidden />
        </Link>
      </div>
      <input
        type="search"
        className="input small"
        placeholder="Search sessions"
        aria-label="Search sessions"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {query.isPending && <Loading label="Loading sessions" />}
      {query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && sessions.length === 0 && (
        <p className="meta">{wanted === '' ? 'None yet: write the first message.' : 'None matches.'}</p>
      )}
      <VirtualList
        className="nav-session-list"
        items={sessions}
        keyOf={(session) => session.id}
        height={32}
        label="Sessions"
        render={(session) => (
          <div className="nav-entry" data-current={session.id === key?.sessionId}>
            <Link
              to={sessionAddress({ ...owner, sessionId: session.id })}
              className="nav-link"
              aria-current={session.id === key?.sessionId ? 'page' : undefined}
              title={`${titleOf(session)} · ${metadataOf(session).change ?? 'original'} · ${shownDay(session.lastUpdateTime)} ${shownTime(session.lastUpdateTime)}`}
            >
              {isPinned(session) && <Pin size={12} aria-label="pinned" />}
              {metadataOf(session).forkedFrom && <GitFork size={12} aria-label="fork" />}
              <span className="truncate">{titleOf(session)}</span>
            </Link>
            <SessionMenu session={session} />
          </div>
        )}
      />
    </section>
  );
}
