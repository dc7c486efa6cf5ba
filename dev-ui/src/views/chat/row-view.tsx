import { RefreshCw } from 'lucide-react';
import { memo, type MouseEvent, type ReactNode, useState } from 'react';
import { componentOf, contributionsOf } from '../../app/registry.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Row } from '../../log/rows.ts';
import type { Turn } from '../../log/turns.ts';
import { Author } from '../../parts/author.tsx';
import { shownTime } from '../../parts/numbers.ts';
import { CallView } from './call-view.tsx';
import { ErrorView } from './error-view.tsx';
import { FoldView } from './fold-view.tsx';
import { MessageParts } from './message-parts.tsx';
import { NoteView } from './note-view.tsx';
import { RequestView } from './request-view.tsx';
import { RowMenu } from './row-menu.tsx';
import { TurnEnd } from './turn-end.tsx';
import { UserMessage } from './user-message.tsx';

export interface RowViewProps {
  readonly row: Row;
  readonly workspace: Workspace;
  readonly selected: boolean;
  /** Whether Tab stops here. Only one row is a tab stop. */
  readonly tabStop: boolean;
  /** Whether the previous row has the same author: then the name is not repeated. */
  readonly sameAuthor: boolean;
  readonly rewound: boolean;
  /** When an edited agent was loaded between the previous row and this one, in seconds. */
  readonly reloadedAt: number | undefined;
  /** The turn that ends with this row. */
  readonly turn: Turn | undefined;
  readonly position: number;
  readonly size: number;
  /** Expanded items: keys of rows and of calls in folds. */
  readonly opened: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
  readonly onSelect: (eventId: string) => void;
  /** Changes when the run begins or ends, which decides which actions are enabled. */
  readonly running: boolean;
}

const words: Readonly<Record<Row['kind'], string>> = {
  user: 'message',
  text: 'answer',
  call: 'tool call',
  fold: 'tool calls',
  request: 'request',
  transfer: 'transfer',
  error: 'error',
  note: 'note',
};

const inControl = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('button, a, input, textarea, select, summary, [role=treeitem]') !== null;

/** One row of the conversation: its author, its content, and after the last row of a turn what the turn used. */
export const RowView = memo(function RowView(props: RowViewProps) {
  const { row, workspace, selected, tabStop, sameAuthor, rewound, reloadedAt, turn, position, size, onSelect } = props;
  const { event, kind } = row;
  // Only the hovered, focused or selected row has a menu: thousands of menus would slow down scrolling.
  const [active, setActive] = useState(false);
  const onClick = ({ target }: MouseEvent): void => {
    if (!inControl(target) && window.getSelection()?.isCollapsed !== false) onSelect(event.id);
  };
  return (
    <article
      className={`item ${kind}`}
      aria-posinset={position}
      aria-setsize={size}
      aria-label={`${event.author === 'user' ? 'You' : event.author}: ${words[kind]}`}
      data-selected={selected}
      data-rewound={rewound}
      data-event={event.id}
      tabIndex={tabStop ? 0 : -1}
      onClick={onClick}
      onPointerEnter={() => setActive(true)}
      onFocus={() => setActive(true)}
      onKeyDown={(key) => {
        if (key.key !== 'Enter' || key.target !== key.currentTarget) return;
        key.preventDefault();
        onSelect(event.id);
      }}
    >
      {reloadedAt !== undefined && <ReloadLine at={reloadedAt} />}
      {!sameAuthor && kind !== 'transfer' && (
        <header className="row item-head">
          <Author name={event.author} />
          <span className="meta">{shownTime(event.timestamp)}</span>
          {rewound && <span className="badge">rewound</span>}
        </header>
      )}
      <Body {...props} />
      <RowSlots row={row} workspace={workspace} />
      {turn && <TurnEnd turn={turn} log={workspace.log} />}
      {(active || selected) && <RowMenu row={row} workspace={workspace} />}
    </article>
  );
});

/** Marks where in the conversation an edited agent was loaded. */
export function ReloadLine({ at }: { readonly at: number }) {
  return (
    <p className="reload-line meta">
      <RefreshCw size={12} aria-hidden /> Agent edited and reloaded at {shownTime(at)}
    </p>
  );
}

function Body({ row, workspace, opened, onToggle }: RowViewProps): ReactNode {
  if (row.kind === 'user') return <UserMessage row={row} workspace={workspace} />;
  if (row.kind === 'text') return <MessageParts parts={row.parts} />;
  if (row.kind === 'call') {
    return <CallView row={row} workspace={workspace} open={opened.has(row.key)} onToggle={() => onToggle(row.key)} />;
  }
  if (row.kind === 'request') return <RequestView row={row} workspace={workspace} />;
  if (row.kind === 'fold') return <FoldView row={row} workspace={workspace} opened={opened} onToggle={onToggle} />;
  if (row.kind === 'error') return <ErrorView row={row} workspace={workspace} />;
  if (row.kind === 'transfer') {
    return (
      <p className="transfer-line">
        <Author name={row.event.author} /> <span aria-hidden>→</span>
        <span className="visually-hidden">transfers to</span> <Author name={row.to} />
      </p>
    );
  }
  return <NoteView row={row} />;
}

const slots = contributionsOf('slot').filter(({ slot }) => slot === 'row');

/** Content that other views add below a row. */
function RowSlots({ row, workspace }: { readonly row: Row; readonly workspace: Workspace }) {
  const wanted = slots.filter((slot) => slot.applies?.(row) ?? true);
  if (wanted.length === 0) return null;
  return wanted.map((slot) => {
    const Slot = componentOf(slot);
    return <Slot key={slot.order} row={row} workspace={workspace} />;
  });
}
