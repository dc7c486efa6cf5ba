import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TraceSummary } from '../../../../src/schemas/extensions.ts';
import { listTraces } from '../../api/extensions.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { sessionAddress } from '../../app/names.ts';
import { shownCount, shownDuration, shownTime } from '../../parts/numbers.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import './trace.css';

const refreshMs = 3_000;
const nanosPerMs = 1e6;

/** The latest traces of all sessions and apps, from any client. */
export function TraceList() {
  const [q, setQ] = useState('');
  const traces = useInfiniteQuery({
    queryKey: ['traces', q],
    queryFn: ({ pageParam, signal }) => listTraces({ q, ...(pageParam !== '' && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ cursor }) => cursor,
    refetchInterval: refreshMs,
    placeholderData: (before) => before,
  });
  const rows = traces.data?.pages.flatMap((page) => page.traces) ?? [];
  return (
    <div className="page">
      <div className="stack trace-list">
        <h1>Traces</h1>
        <input
          type="search"
          className="input"
          aria-label="Search traces"
          placeholder="Search by app, session, user or model"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
        {traces.isPending && <Loading label="Loading traces" />}
        {traces.isError && <Failure error={traces.error} onRetry={() => void traces.refetch()} />}
        {traces.data && rows.length === 0 && (
          <Empty title={q === '' ? 'No traces yet' : 'No matches'}>
            The server records the runs of all clients, and keeps the latest traces in memory until it stops.
          </Empty>
        )}
        {rows.length > 0 && <Table rows={rows} />}
        {traces.hasNextPage && (
          <p>
            <button type="button" className="button" onClick={() => void traces.fetchNextPage()}>
              Older traces
            </button>
          </p>
        )}
      </div>
    </div>
  );
}

function Table({ rows }: { readonly rows: readonly TraceSummary[] }) {
  return (
    <div className="trace-scroll" tabIndex={0} role="region" aria-label="Latest traces">
      <table className="trace-table">
        <thead>
          <tr>
            <th scope="col">Start</th>
            <th scope="col">App</th>
            <th scope="col">Session</th>
            <th scope="col">Duration</th>
            <th scope="col">Calls</th>
            <th scope="col">Tokens</th>
            <th scope="col">Status</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((trace) => (
            <tr key={trace.traceId}>
              <td>
                <Link to={to('/traces/:id', { id: trace.traceId })}>
                  {shownTime(trace.startTime / nanosPerMs / 1_000)}
                </Link>
              </td>
              <td>{trace.appName ?? ''}</td>
              <td>
                <SessionLink trace={trace} />
              </td>
              <td>
                {trace.endTime === undefined ? '…' : shownDuration((trace.endTime - trace.startTime) / nanosPerMs)}
              </td>
              <td>
                {trace.modelCalls} model, {trace.toolCalls} tool
              </td>
              <td>
                {shownCount(trace.inputTokens)} → {shownCount(trace.outputTokens)}
              </td>
              <td className={`trace-status ${trace.status}`}>{trace.status}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The session a trace belongs to; nothing for one that names none. */
export function SessionLink({ trace }: { readonly trace: TraceSummary }) {
  const { appName, userId, sessionIds } = trace;
  const [sessionId] = sessionIds;
  if (sessionId === undefined) return null;
  const label = sessionId.slice(0, 8);
  if (appName === undefined || userId === undefined) return <span className="mono">{label}</span>;
  return (
    <Link className="mono" to={sessionAddress({ appName, userId, sessionId }, { view: 'trace' })}>
      {label}
    </Link>
  );
}
