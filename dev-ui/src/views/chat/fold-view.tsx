import { ChevronDown, ChevronRight } from 'lucide-react';
import type { Workspace } from '../../app/workspace.ts';
import type { FoldRow } from '../../log/rows.ts';
import { CallView } from './call-view.tsx';

interface FoldViewProps {
  readonly row: FoldRow;
  readonly workspace: Workspace;
  readonly opened: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
}

/** Calls that an expanded fold shows; the rest is in the list of events. */
const most = 50;

/** Many calls in a row: `72 calls · 71 ok · 1 failed`. */
export function FoldView({ row: { key, calls }, workspace, opened, onToggle }: FoldViewProps) {
  const open = opened.has(key);
  const count = (status: string): number => calls.filter((call) => call.status === status).length;
  const names = [...new Set(calls.map(({ call }) => call.name))];
  return (
    <div className="fold">
      <button type="button" className="call-line" aria-expanded={open} onClick={() => onToggle(key)}>
        {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
        <span className="call-text">
          <span className="call-name">{calls.length} calls</span>
          <span className="call-args"> {names.join(', ')}</span>
        </span>
        <span className="call-end meta">
          {count('ok') > 0 && <span>{count('ok')} ok</span>}
          {count('error') > 0 && <span className="error-text">{count('error')} failed</span>}
          {count('running') > 0 && <span>{count('running')} running</span>}
          {count('waiting') > 0 && <span className="state-text">{count('waiting')} waiting</span>}
        </span>
      </button>
      {open &&
        calls
          .slice(0, most)
          .map((call) => (
            <CallView
              key={call.key}
              row={call}
              workspace={workspace}
              open={opened.has(call.key)}
              onToggle={() => onToggle(call.key)}
            />
          ))}
      {open && calls.length > most && <p className="meta">{calls.length - most} more in Events</p>}
    </div>
  );
}
