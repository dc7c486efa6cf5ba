import { ShieldQuestion } from 'lucide-react';
import { useLogVersion } from '../../app/current.ts';
import { setQuery } from '../../app/location.ts';
import type { Workspace } from '../../app/workspace.ts';
import { answerRequest, question } from './requests.ts';

/** Stays above the composer until the user has answered the pending requests. */
export function PendingBar({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  const pending = [...workspace.log.pending.values()];
  const [first] = pending;
  if (!first) return null;
  const busy = workspace.run.status === 'running';
  const label = first.kind === 'request' ? question(first) : `${first.call.name} waits for a response`;
  return (
    <section className="pending-bar" aria-label="Waiting for your response">
      <ShieldQuestion size={16} aria-hidden />
      <span className="grow">
        {label}
        {pending.length > 1 && <span className="meta"> and {pending.length - 1} more</span>}
      </span>
      {first.kind === 'request' && first.request === 'confirmation' && (
        <>
          <button
            type="button"
            className="button small primary"
            disabled={busy}
            onClick={() => answerRequest(workspace, first, { confirmed: true })}
          >
            Approve
          </button>
          <button
            type="button"
            className="button small danger"
            disabled={busy}
            onClick={() => answerRequest(workspace, first, { confirmed: false })}
          >
            Reject
          </button>
        </>
      )}
      <button type="button" className="button small" onClick={() => setQuery({ e: first.event.id })}>
        Show
      </button>
    </section>
  );
}
