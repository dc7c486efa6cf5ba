import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { readTrace } from '../../api/extensions.ts';
import { Link } from '../../app/link.tsx';
import { setQuery, to, useLocation } from '../../app/location.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { SpanDetails } from './span-details.tsx';
import { spanOf } from './spans.ts';
import { SessionLink } from './trace-list.tsx';
import { Waterfall } from './waterfall.tsx';

const refreshMs = 500;

/** One trace, from any client. */
export function TracePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const traceId = params['id'] ?? '';
  const { query } = useLocation();
  const trace = useQuery({
    queryKey: ['trace', traceId],
    queryFn: ({ signal }) => readTrace(traceId, signal),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? refreshMs : false),
    retry: false,
  });
  const spans = useMemo(
    () => new Map((trace.data?.spans ?? []).map((span) => [span.span_id, spanOf(span)])),
    [trace.data],
  );
  if (trace.isPending) return <Loading label="Loading the trace" />;
  if (trace.isError) {
    return (
      <div className="page">
        <div className="stack">
          <h1>Trace</h1>
          <Failure error={trace.error} onRetry={() => void trace.refetch()} />
          <p className="secondary">
            The server keeps the latest traces in memory until it stops, and drops the oldest first.
          </p>
        </div>
      </div>
    );
  }
  const selected = spans.get(query.get('span') ?? '');
  return (
    <div className="trace-page">
      <header className="row">
        <Link to={to('/traces')}>Traces</Link>
        <h1 className="truncate">{trace.data.appName ?? trace.data.name}</h1>
        <span className={`trace-status ${trace.data.status}`}>{trace.data.status}</span>
        <span className="grow" />
        <span className="meta">Session</span>
        <SessionLink trace={trace.data} />
      </header>
      <div className="trace-view">
        <Waterfall
          spans={spans}
          version={trace.dataUpdatedAt}
          selected={selected?.id}
          onSelect={({ id }) => setQuery({ span: id }, { replace: true })}
        />
        {selected && <SpanDetails key={selected.id} span={selected} onClose={() => setQuery({ span: undefined })} />}
      </div>
    </div>
  );
}
