import { Pencil } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { rerun } from '../../app/branching.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { UserRow } from '../../log/rows.ts';
import { MessageParts } from './message-parts.tsx';

interface UserMessageProps {
  readonly row: UserRow;
  readonly workspace: Workspace;
}

/** A message of the user. An edited message runs in a fork. */
export function UserMessage({ row, workspace }: UserMessageProps) {
  const [editing, setEditing] = useState(false);
  if (editing) return <Editor row={row} workspace={workspace} onDone={() => setEditing(false)} />;
  return (
    <div className="user-message">
      <MessageParts parts={row.parts} plain />
      {workspace.run.status !== 'running' && (
        <button
          type="button"
          className="icon-button edit"
          aria-label="Edit and run again"
          title="Edit and run again (e)"
          data-action="edit"
          onClick={() => setEditing(true)}
        >
          <Pencil size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}

function Editor({ row, workspace, onDone }: UserMessageProps & { readonly onDone: () => void }) {
  const others = row.parts.filter((part) => part.text === undefined);
  const [text, setText] = useState(() => row.parts.map((part) => part.text ?? '').join(''));
  const run = (): void => {
    if (text.trim() === '') return;
    onDone();
    void rerun(workspace, row.event, { role: 'user', parts: [{ text }, ...others] }); // failures show as a toast
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onDone();
    else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      run();
    }
  };
  return (
    <div className="stack edit-message">
      <textarea
        className="input"
        aria-label="Edited message"
        rows={3}
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="row">
        <button type="button" className="button small primary" disabled={text.trim() === ''} onClick={run}>
          Run in a fork
        </button>
        <button type="button" className="button small" onClick={onDone}>
          Cancel
        </button>
        <span className="meta">This session does not change.</span>
      </div>
    </div>
  );
}
