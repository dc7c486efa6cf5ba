import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowLeftRight } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { listSessions, readSession, type Session, type SessionKey } from '../../api/sessions.ts';
import { navigate, to } from '../../app/location.ts';
import { isInternalKey } from '../../app/names.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { align, linesOf } from './align.ts';
import { comparedEvents } from './compared-event.ts';
import { Lines, type LinesHandle } from './lines.tsx';
import { SideHead } from './side-head.tsx';
import { StateDiff } from './state-diff.tsx';
import './compare.css';

const pattern = '/apps/:app/u/:user/s/:a/compare/:b';

const useSession = (key: SessionKey) =>
  useQuery({
    queryKey: ['session', key.appName, key.userId, key.sessionId],
    queryFn: ({ signal }) => readSession(key, { signal }),
    retry: false,
  });

/** Two sessions or branches side by side, with their first difference marked. */
export function ComparePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { app = '', user = '', a = '', b = '' } = params;
  const owner = { appName: app, userId: user };
  const left = useSession({ ...owner, sessionId: a });
  const right = useSession({ ...owner, sessionId: b });
  const sessions = useQuery({
    queryKey: ['sessions', app, user],
    queryFn: ({ signal }) => listSessions(owner, signal),
  });
  const goTo = (sides: { a: string; b: string }): void => navigate(to(pattern, { app, user, ...sides }));
  return (
    <div className="compare">
      <header className="compare-head">
        <div className="row compare-title">
          <h1 className="grow">Compare</h1>
          <button type="button" className="button small" onClick={() => goTo({ a: b, b: a })}>
            <ArrowLeftRight size={14} aria-hidden /> Swap sides
          </button>
        </div>
        <div className="compare-sides">
          <SideHead
            label="Left"
            session={left.data}
            sessions={sessions.data ?? []}
            id={a}
            onChoose={(id) => goTo({ a: id, b })}
          />
          <SideHead
            label="Right"
            session={right.data}
            sessions={sessions.data ?? []}
            id={b}
            onChoose={(id) => goTo({ a, b: id })}
          />
        </div>
      </header>
      {(left.isPending || right.isPending) && <Loading label="Loading both sessions" />}
      {left.isError && <Failure error={left.error} onRetry={() => void left.refetch()} />}
      {right.isError && <Failure error={right.error} onRetry={() => void right.refetch()} />}
      {left.data && right.data && <Comparison key={`${a} ${b}`} left={left.data} right={right.data} />}
    </div>
  );
}

function Comparison({ left, right }: { readonly left: Session; readonly right: Session }) {
  const pairs = useMemo(
    () => align(comparedEvents(left.events, isInternalKey), comparedEvents(right.events, isInternalKey)),
    [left, right],
  );
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const lines = useMemo(() => linesOf(pairs, opened), [pairs, opened]);
  const handle = useRef<LinesHandle>(null);
  const differences = pairs.filter(({ isSame }) => !isSame).length;
  const first = lines.findIndex((line) => line.kind === 'pair' && line.isFirst);
  return (
    <>
      <div className="row compare-sum">
        {differences === 0 ? (
          <p className="grow">Both sessions are identical.</p>
        ) : (
          <>
            <p className="grow">
              {pairs.length - differences} {pairs.length - differences === 1 ? 'event is' : 'events are'} the same,{' '}
              {differences} {differences === 1 ? 'differs' : 'differ'}.
            </p>
            <button type="button" className="button small" onClick={() => handle.current?.show(first)}>
              <ArrowDown size={14} aria-hidden /> Go to first difference
            </button>
          </>
        )}
      </div>
      <StateDiff left={left.state} right={right.state} />
      <Lines ref={handle} lines={lines} start={first} onOpen={(from) => setOpened(new Set(opened).add(from))} />
    </>
  );
}
