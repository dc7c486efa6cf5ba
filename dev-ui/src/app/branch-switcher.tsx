import { useQuery } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight, GitFork } from 'lucide-react';
import { listSessions, type Session } from '../api/sessions.ts';
import { Menu } from '../parts/menu.tsx';
import { shownTime } from '../parts/numbers.ts';
import { familyOf } from './branching.ts';
import { navigate, to } from './location.ts';
import { metadataOf, sessionAddress } from './names.ts';
import { sessionsKey } from './queries.ts';
import type { Workspace } from './workspace.ts';

/** `‹ 2/3 ›`: the branches of a conversation, shown once there is more than one. */
export function BranchSwitcher({ workspace: { key } }: { readonly workspace: Workspace }) {
  const query = useQuery({ queryKey: sessionsKey(key), queryFn: ({ signal }) => listSessions(key, signal) });
  const family = familyOf(query.data ?? [], key.sessionId);
  const at = family.findIndex(({ id }) => id === key.sessionId);
  if (family.length < 2) return null;
  const go = (session: Session | undefined): void => {
    if (session) navigate(sessionAddress({ ...key, sessionId: session.id }));
  };
  const nameOf = (session: Session, index: number): string =>
    `${index + 1} · ${metadataOf(session).change ?? 'original'} · ${shownTime(session.lastUpdateTime)}`;
  const parent = metadataOf(family[at] ?? { state: {} }).forkedFrom?.sessionId;
  return (
    <span className="branches" role="group" aria-label="Branches">
      <button
        type="button"
        className="icon-button"
        aria-label="Previous branch"
        disabled={at <= 0}
        onClick={() => go(family[at - 1])}
      >
        <ChevronLeft size={14} aria-hidden />
      </button>
      <Menu
        label={`Branch ${at + 1} of ${family.length}`}
        className="icon-button branch-count"
        button={
          <>
            <GitFork size={12} aria-hidden /> {at + 1}/{family.length}
          </>
        }
        items={[
          ...family.map((session, index) => ({
            label: nameOf(session, index),
            checked: index === at,
            run: () => go(session),
          })),
          'line',
          {
            label: 'Compare with its original',
            disabled: parent === undefined,
            run: () =>
              navigate(
                to('/apps/:app/u/:user/s/:a/compare/:b', {
                  app: key.appName,
                  user: key.userId,
                  a: parent ?? '',
                  b: key.sessionId,
                }),
              ),
          },
        ]}
      />
      <button
        type="button"
        className="icon-button"
        aria-label="Next branch"
        disabled={at >= family.length - 1}
        onClick={() => go(family[at + 1])}
      >
        <ChevronRight size={14} aria-hidden />
      </button>
    </span>
  );
}
