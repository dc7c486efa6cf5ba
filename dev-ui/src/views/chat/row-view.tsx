import { memo, type ReactNode } from 'react';
import type { Part } from '../../../../src/schemas/content.ts';
import type { Row } from '../../log/rows.ts';
import { Author } from '../../parts/author.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { shownTime } from '../../parts/numbers.ts';

interface RowViewProps {
  readonly row: Row;
  readonly selected: boolean;
  readonly position: number;
  readonly size: number;
  readonly onSelect: (eventId: string) => void;
}

/** One row of the conversation. */
export const RowView = memo(function RowView({ row, selected, position, size, onSelect }: RowViewProps) {
  const { event, kind } = row;
  return (
    <article
      className={`item ${kind}`}
      aria-posinset={position}
      aria-setsize={size}
      aria-label={`${event.author}, ${kind}`}
      data-selected={selected}
      data-event={event.id}
      onClick={() => onSelect(event.id)}
    >
      <header className="row item-head">
        <Author name={event.author} />
        <span className="meta">{shownTime(event.timestamp)}</span>
      </header>
      <Body row={row} />
    </article>
  );
});

function Body({ row }: { readonly row: Row }): ReactNode {
  if (row.kind === 'user') return <p className="said">{textIn(row.parts)}</p>;
  if (row.kind === 'text') return <Markdown text={textIn(row.parts)} />;
  if (row.kind === 'call' || row.kind === 'request') return <code>{row.call.name}</code>;
  if (row.kind === 'fold') return <span>{row.calls.length} calls</span>;
  if (row.kind === 'error') return <p className="error-text">{row.event.errorMessage}</p>;
  if (row.kind === 'transfer') return <span>→ {row.to}</span>;
  return <span className="meta">changed the state</span>;
}

const textIn = (parts: readonly Part[]): string => parts.map((part) => part.text ?? '').join('');
