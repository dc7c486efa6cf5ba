import type { Workspace } from '../../app/workspace.ts';
import { Failure } from '../../parts/states.tsx';

/** How the last run ended, when it did not end by itself. */
export function RunEnd({ workspace }: { readonly workspace: Workspace }) {
  const { run } = workspace;
  if (run.status === 'stopped') {
    return (
      <p className="run-end meta" role="status">
        Stopped after {run.events} {run.events === 1 ? 'event' : 'events'}.
      </p>
    );
  }
  if (run.status !== 'failed') return null;
  return (
    <div className="run-end">
      <Failure error={run.error} {...(workspace.canRetry && { onRetry: () => void workspace.retry() })} />
    </div>
  );
}
