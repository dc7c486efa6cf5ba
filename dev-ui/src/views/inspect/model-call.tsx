import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { ApiError } from '../../api/server.ts';
import { readEventTrace } from '../../api/traces.ts';
import { Cost } from '../../app/cost.tsx';
import { setQuery, useLocation } from '../../app/location.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { EventLog } from '../../log/event-log.ts';
import { tokensOf } from '../../log/turns.ts';
import { copyText } from '../../parts/clipboard.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { late } from '../../parts/late.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownCount } from '../../parts/numbers.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { asCurl, asTypeScript, type LlmRequest, partsOf, requestIn, responseIn, sharesOf } from './llm-request.ts';
import { Messages } from './messages.tsx';
import { Section } from './section.tsx';
import './inspect.css';

const Changes = late(async () => (await import('./changes.tsx')).Changes, 'Comparing');

interface ModelCallProps {
  readonly workspace: Workspace;
  readonly event: Event | undefined;
}

/** The event of the model call before this one by the same agent. */
function callBefore(log: EventLog, event: Event): Event | undefined {
  const positions = log.byAuthor.get(event.author) ?? [];
  const at = positions.indexOf(log.positionOf(event.id) ?? -1);
  for (let index = at - 1; index >= 0; index -= 1) {
    const one = log.events[positions[index] ?? -1];
    if (one && !one.content?.parts.some((part) => part.functionResponse) && one.content) return one;
  }
  return undefined;
}

const traceQuery = (eventId: string | undefined) => ({
  queryKey: ['event-trace', eventId],
  queryFn: ({ signal }: { signal: AbortSignal }) => readEventTrace(eventId ?? '', signal),
  enabled: eventId !== undefined,
  staleTime: Number.POSITIVE_INFINITY, // a finished call does not change
});

/** The request and the response of a model call, and the changes since the previous call. */
export function ModelCall({ workspace, event }: ModelCallProps) {
  const trace = useQuery(traceQuery(event?.id));
  if (!event) return null;
  if (trace.isPending) return <Loading label="Loading the trace" />;
  if (trace.isError) {
    const isGone = trace.error instanceof ApiError && trace.error.status === 404;
    if (!isGone) return <Failure error={trace.error} onRetry={() => void trace.refetch()} />;
    return (
      <Empty title="No model call is recorded for this event">
        No model produced this event, or the trace is gone: the server keeps the latest traces in memory until it stops.
      </Empty>
    );
  }
  const request = requestIn(trace.data);
  if (!request) return <Empty title="No model call produced this event" />;
  return (
    <Recorded key={event.id} workspace={workspace} event={event} request={request} response={responseIn(trace.data)} />
  );
}

interface RecordedProps {
  readonly workspace: Workspace;
  readonly event: Event;
  readonly request: LlmRequest;
  readonly response: unknown;
}

function Recorded({ workspace, event, request, response }: RecordedProps) {
  const { query } = useLocation();
  const comparing = query.get('changes') === '1';
  const before = callBefore(workspace.log, event);
  const parts = partsOf(request);
  const tokens = tokensOf(event);
  const shares = sharesOf(parts, tokens?.input ?? 0);
  const about = (share: number): string => (tokens ? ` · ≈ ${shownCount(share)} tokens` : '');
  return (
    <div className="stack">
      <div className="row wrap">
        <span className="badge model">{parts.model}</span>
        {tokens && (
          <span className="meta">
            {shownCount(tokens.input)} in, {shownCount(tokens.output)} out{' '}
            <Cost byModel={{ [event.modelVersion ?? parts.model]: tokens }} />
          </span>
        )}
        <span className="grow" />
        <button
          type="button"
          className="button small"
          aria-pressed={comparing}
          disabled={!before}
          title={before ? 'Compare with the previous model call' : 'This is the first model call of this agent'}
          onClick={() => setQuery({ changes: comparing ? undefined : '1' }, { replace: true })}
        >
          Show changes
        </button>
        <Menu
          label="Copy the request"
          className="button small"
          button="Copy as …"
          items={[
            { label: 'JSON', run: () => void copyText(JSON.stringify(request, undefined, 2)) },
            { label: 'curl (Gemini API)', run: () => void copyText(asCurl(request)) },
            { label: 'TypeScript (@google/genai)', run: () => void copyText(asTypeScript(request)) },
          ]}
        />
      </div>
      {comparing && before ? (
        <ChangesSince before={before} event={event} request={request} />
      ) : (
        <>
          <Section title="System" note={about(shares.system)} open>
            <Long text={parts.system === '' ? 'No system instruction.' : parts.system} />
          </Section>
          <Section title="Messages" note={`${parts.messages.length}${about(shares.messages)}`} open>
            <Messages messages={parts.messages} />
          </Section>
          <Section title="Tools" note={`${Object.keys(parts.tools).length}${about(shares.tools)}`}>
            <JsonTree value={parts.tools} label="Tools" openTo={0} />
          </Section>
          <Section title="Config" note={String(Object.keys(parts.config).length)}>
            <JsonTree value={parts.config} label="Config" />
          </Section>
          <Section title="Response" note="" open>
            <JsonTree value={response ?? {}} label="Response" openTo={4} />
          </Section>
        </>
      )}
    </div>
  );
}

function ChangesSince({ before, event, request }: { before: Event; event: Event; request: LlmRequest }) {
  const trace = useQuery(traceQuery(before.id));
  if (trace.isPending) return <Loading label="Loading the previous call" />;
  const earlier = trace.data && requestIn(trace.data);
  if (!earlier) return <Empty title="The trace of the previous call is gone" />;
  return <Changes before={{ event: before, request: earlier }} after={{ event, request }} />;
}

/** Characters shown until the user asks for more. */
const clamp = 6_000;

function Long({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  return (
    <>
      <pre className="plain" tabIndex={0} aria-label="Text">
        {all ? text : text.slice(0, clamp)}
      </pre>
      {!all && text.length > clamp && (
        <button type="button" className="button small" onClick={() => setAll(true)}>
          Show all {shownCount(text.length)} characters
        </button>
      )}
    </>
  );
}
