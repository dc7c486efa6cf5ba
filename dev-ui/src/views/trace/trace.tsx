import { setQuery, useLocation } from '../../app/location.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { EventLog } from '../../log/event-log.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { SpanDetails } from './span-details.tsx';
import { useSpans } from './use-spans.ts';
import { Waterfall } from './waterfall.tsx';

/** The spans of the session on a time line, updated during a run. */
export function Trace({ workspace }: { readonly workspace: Workspace }) {
  const { spans, version, loaded, error } = useSpans(workspace);
  const { query } = useLocation();
  const eventId = query.get('e');
  const chosen = query.get('span') ?? (eventId === null ? undefined : spanOfEvent(spans.values(), eventId));
  const selected = chosen === undefined ? undefined : spans.get(chosen);
  if (!loaded) return <Loading label="Loading the trace" />;
  if (error !== undefined) return <Failure error={error} />;
  if (spans.size === 0) {
    return (
      <Empty title="No trace">
        The server keeps the latest traces in memory until it stops. Start a run to record one.
      </Empty>
    );
  }
  const event = selected?.eventId === undefined ? undefined : workspace.log.eventOf(selected.eventId);
  return (
    <div className="trace-view">
      <Waterfall
        spans={spans}
        version={version}
        selected={selected?.id}
        titleOf={({ invocationId = '' }) => messageOf(workspace.log, invocationId)}
        onSelect={({ id }) => setQuery({ span: id }, { replace: true })}
      />
      {selected && (
        <SpanDetails key={selected.id} span={selected} onClose={() => setQuery({ span: undefined, e: undefined })}>
          {event && (
            <button
              type="button"
              className="button small"
              onClick={() => setQuery({ e: event.id, view: undefined, span: undefined })}
            >
              Show in chat
            </button>
          )}
        </SpanDetails>
      )}
    </div>
  );
}

/** The message that started a run. */
function messageOf(log: EventLog, invocationId: string): string | undefined {
  const first = log.events[log.turns.get(invocationId)?.first ?? -1];
  if (first?.author !== 'user') return undefined;
  const text = (first.content?.parts ?? []).map((part) => part.text ?? '').join(' ');
  return text.trim() === '' ? undefined : `“${text.slice(0, 100)}”`;
}

function spanOfEvent(
  spans: Iterable<{ readonly id: string; readonly eventId: string | undefined }>,
  eventId: string,
): string | undefined {
  for (const span of spans) if (span.eventId === eventId) return span.id;
  return undefined;
}
