import { useQuery } from '@tanstack/react-query';
import { Repeat, Square } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { readSession } from '../../api/sessions.ts';
import { Link } from '../../app/link.tsx';
import { sessionAddress } from '../../app/names.ts';
import { refreshSessions } from '../../app/queries.ts';
import { titleFrom } from '../../app/start-session.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Outcomes } from './outcomes.tsx';
import { blank, type Outcome, repeat } from './repeat.ts';
import './repeat.css';

const most = 50;

/** Runs the same message several times, each in a session of its own, and compares the outcomes. */
export function RepeatPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { app = '', user = '', session: sessionId = '', event: eventId = '' } = params;
  const key = { appName: app, userId: user, sessionId };
  const [times, setTimes] = useState('5');
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [stopping, setStopping] = useState<AbortController>();
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const session = useQuery({
    queryKey: ['session', app, user, sessionId],
    queryFn: ({ signal }) => readSession(key, { signal }),
    retry: false,
  });
  if (session.isPending) return <Loading label="Loading the session" />;
  if (session.isError) return <Failure error={session.error} onRetry={() => void session.refetch()} />;
  const message = session.data.events.find(({ id }) => id === eventId);
  if (!message?.content) return <Empty title="The session has no such message" />;
  const title = titleFrom(message.content);
  const start = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const controller = new AbortController();
    current.current = controller;
    setStopping(controller);
    const count = Number(times);
    setOutcomes(Array.from({ length: count }, (_, index) => blank(index + 1)));
    const onChange = (outcome: Outcome): void => setOutcomes((before) => before.with(outcome.number - 1, outcome));
    await repeat({ key, message, times: count, title }, onChange, controller.signal);
    setStopping(undefined);
    void refreshSessions(key); // the list may be late
  };
  return (
    <div className="page">
      <div className="stack repeat">
        <h1>Repeat a message</h1>
        <blockquote className="repeat-message" dir="auto">
          {title}
        </blockquote>
        <p className="secondary">
          Each run gets a session of its own, with the history before the message.{' '}
          <Link to={sessionAddress(key, { e: eventId })}>Original session</Link>
        </p>
        {/* its failures show in the outcomes */}
        <form className="row" onSubmit={(event) => void start(event)}>
          <label className="row">
            Repetitions
            <input
              className="input repeat-times"
              type="number"
              min={1}
              max={most}
              required
              value={times}
              onChange={(event) => setTimes(event.target.value)}
            />
          </label>
          {stopping ? (
            <button type="button" className="button" onClick={() => stopping.abort()}>
              <Square size={14} aria-hidden /> Stop
            </button>
          ) : (
            <button type="submit" className="button primary">
              <Repeat size={14} aria-hidden /> Run
            </button>
          )}
        </form>
        {outcomes.length > 0 && <Outcomes owner={key} origin={sessionId} outcomes={outcomes} />}
      </div>
    </div>
  );
}
