import { CircleAlert } from 'lucide-react';
import { retry } from '../../app/branching.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { ErrorRow } from '../../log/rows.ts';
import { thrownIn } from '../../log/thrown.ts';
import { copyText } from '../../parts/clipboard.ts';
import { ThrownError } from '../../parts/thrown-error.tsx';

/** An error: its code, its message, and a button to retry. */
export function ErrorView({ row: { event }, workspace }: { readonly row: ErrorRow; readonly workspace: Workspace }) {
  const { errorCode, author, modelVersion } = event;
  const thrown = thrownIn(event);
  if (errorCode === 'run_cancelled') return <p className="note-line secondary">Stopped: {thrown.message}</p>;
  return (
    <div className="notice error" role="group" aria-label="Error">
      <p className="row">
        <CircleAlert size={16} className="error-text" aria-hidden />
        <strong>{errorCode ?? 'Error'}</strong>
        <span className="meta">
          in {author}
          {modelVersion !== undefined && `, model ${modelVersion}`}
        </span>
      </p>
      <ThrownError {...thrown} />
      <div className="row">
        <button
          type="button"
          className="button small"
          disabled={workspace.run.status === 'running'}
          onClick={() => void retry(workspace, event)}
        >
          Retry this turn
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => void copyText(JSON.stringify(event, undefined, 2), 'Event copied')}
        >
          Copy event as JSON
        </button>
      </div>
    </div>
  );
}
