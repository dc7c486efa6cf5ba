import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { readSpan } from '../../api/extensions.ts';
import { shownCount, shownDuration, shownTime } from '../../parts/numbers.ts';
import { Failure } from '../../parts/states.tsx';
import { ThrownError } from '../../parts/thrown-error.tsx';
import type { Span } from './spans.ts';

interface SpanDetailsProps {
  readonly span: Span;
  readonly onClose: () => void;
  /** A link to the event of the span. */
  readonly children?: ReactNode;
}

/** All attributes of one span; long values are loaded when it is opened. */
export function SpanDetails({ span, onClose, children }: SpanDetailsProps) {
  const { id, traceId, end } = span;
  const whole = useQuery({
    queryKey: ['span', traceId, id, end],
    queryFn: ({ signal }) => readSpan(traceId, id, signal),
  });
  return (
    <section className="span-details stack" aria-label={`Span ${span.label}`}>
      <div className="row">
        <span className={`span-kind ${span.kind}`}>{span.kind}</span>
        <h2 className="truncate">{span.label}</h2>
        <span className="grow" />
        {children}
        <button
          type="button"
          className="icon-button"
          aria-label="Close the span"
          title="Close the span"
          onClick={onClose}
        >
          <X size={16} aria-hidden />
        </button>
      </div>
      {span.error !== undefined && <ThrownError name={span.errorName} message={span.error} where={span.where} />}
      <dl className="span-facts">
        <dt>Duration</dt>
        <dd>{end === undefined ? 'running' : shownDuration(end - span.start)}</dd>
        <dt>Start</dt>
        <dd>{shownTime(span.start / 1_000)}</dd>
        {span.model !== undefined && (
          <>
            <dt>Model</dt>
            <dd>{span.model}</dd>
          </>
        )}
        {span.tokens && (
          <>
            <dt>Tokens</dt>
            <dd>
              {shownCount(span.tokens.input)} in, {shownCount(span.tokens.output)} out
            </dd>
          </>
        )}
      </dl>
      {whole.isError && <Failure error={whole.error} />}
      {whole.data && <Attributes attributes={whole.data.attributes} />}
    </section>
  );
}

const longest = 200_000;

function Attributes({ attributes }: { readonly attributes: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(attributes).map(([key, value]) => [key, textOf(value)] as const);
  const short = entries.filter(([, text]) => !text.includes('\n'));
  const long = entries.filter(([, text]) => text.includes('\n'));
  return (
    <>
      <dl className="span-facts">
        {short.map(([key, text]) => (
          <div key={key} className="span-fact">
            <dt className="mono">{key}</dt>
            <dd className="mono">{text}</dd>
          </div>
        ))}
      </dl>
      {long.map(([key, text]) => (
        <details key={key}>
          <summary className="mono">{key}</summary>
          <pre className="plain">{text.length > longest ? `${text.slice(0, longest)}…` : text}</pre>
        </details>
      ))}
    </>
  );
}

/** JSON in a text is shown as JSON. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (!/^[[{]/.test(value) || value === '{}') return value;
  try {
    return JSON.stringify(JSON.parse(value), undefined, 2);
  } catch {
    return value;
  }
}
