import { History, Pencil, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Link } from '../../app/link.tsx';
import { withQuery } from '../../app/location.ts';
import type { EventLog } from '../../log/event-log.ts';
import type { StateChange } from '../../log/state-history.ts';
import { shownTime } from '../../parts/numbers.ts';
import { shownValue } from './scopes.ts';
import { ValueEditor } from './value-editor.tsx';

interface KeyRowProps {
  readonly name: string;
  readonly value: unknown;
  readonly isRemoved: boolean;
  readonly changes: readonly StateChange[];
  /** The position of the selected event, when it changed this key. */
  readonly changedBy: number | undefined;
  readonly before: unknown;
  readonly log: EventLog;
  /** Absent when the past is shown: it cannot be edited. */
  readonly onSave: ((value: unknown) => Promise<void>) | undefined;
  readonly onRemove: () => void;
}

/** Longest value that is shown in one line. */
const inline = 60;
/** Changes listed; older ones are in the events. */
const mostChanges = 50;
const longest = 100_000;

/** One key: its value, an editor, and its history. */
export function KeyRow(props: KeyRowProps) {
  const { name, value, isRemoved, changes, changedBy, before, log, onSave, onRemove } = props;
  const [isEditing, setEditing] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const text = useMemo(() => (isRemoved ? 'deleted' : shownValue(value)), [isRemoved, value]);
  const pretty = useMemo(() => JSON.stringify(value, undefined, 2)?.slice(0, longest), [value]);
  const isChanged = changedBy !== undefined;
  return (
    <li className="state-key" data-changed={isChanged} data-key={name}>
      <div className="row">
        <span className="mono state-name truncate" title={name}>
          {name}
        </span>
        {isChanged && <span className="badge state-badge">changed here</span>}
        <span className="grow" />
        {changes.length > 0 && (
          <button
            type="button"
            className="icon-button"
            aria-label={`History of ${name}: ${changes.length} changes`}
            title="History"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <History size={14} aria-hidden />
            <span className="meta">{changes.length}</span>
          </button>
        )}
        {onSave && (
          <>
            <button
              type="button"
              className="icon-button"
              aria-label={`Edit ${name}`}
              title="Edit"
              aria-expanded={isEditing}
              onClick={() => setEditing(!isEditing)}
            >
              <Pencil size={14} aria-hidden />
            </button>
            <button
              type="button"
              className="icon-button"
              aria-label={`Delete ${name}`}
              title="Delete"
              onClick={onRemove}
            >
              <Trash2 size={14} aria-hidden />
            </button>
          </>
        )}
      </div>
      {isEditing && onSave ? (
        <ValueEditor label={`Value of ${name}`} value={value} onSave={onSave} onClose={() => setEditing(false)} />
      ) : text.length <= inline ? (
        <code className="state-value">{text}</code>
      ) : (
        <pre className="plain state-value" tabIndex={0} aria-label={`Value of ${name}`}>
          {pretty}
        </pre>
      )}
      {isChanged && before !== undefined && <p className="meta mono truncate">was {shownValue(before)}</p>}
      {isOpen && <Changes name={name} changes={changes} log={log} />}
    </li>
  );
}

function Changes({ name, changes, log }: Pick<KeyRowProps, 'name' | 'changes' | 'log'>) {
  const newest = changes.slice(-mostChanges).toReversed();
  return (
    <ol className="state-history" aria-label={`History of ${name}`}>
      {newest.map(({ position, value }) => {
        const event = log.events[position];
        return (
          <li key={position} className="row">
            <Link to={withQuery({ e: event?.id, t: 'state' })} className="meta">
              event {position + 1}
            </Link>
            <span className="meta">
              {event?.author} · {event && shownTime(event.timestamp)}
            </span>
            <code className="truncate grow">{value === null ? 'deleted' : shownValue(value)}</code>
          </li>
        );
      })}
      {changes.length > newest.length && <li className="meta">and {changes.length - newest.length} before</li>}
    </ol>
  );
}
