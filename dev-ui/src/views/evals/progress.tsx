import { Square } from 'lucide-react';
import { Failure } from '../../parts/states.tsx';
import { cancelRun, type Running } from './running.ts';

/** The progress of a run, and a button to stop it. */
export function Progress({ run }: { readonly run: Running }) {
  if (run.error !== undefined) return <Failure error={run.error} />;
  if (run.over) return null;
  const { done, total, failed, latest, cancelling } = run;
  return (
    <section className="card stack" aria-label="Run in progress">
      <div className="row">
        <span className="grow" role="status">
          {total === 0 ? 'Starting …' : `${done} of ${total} done, ${failed} did not pass`}
          {latest !== undefined && <span className="meta"> · {latest}</span>}
        </span>
        <button
          type="button"
          className="button small"
          disabled={cancelling === true || run.runId === undefined}
          onClick={() => void cancelRun(run)}
        >
          <Square size={12} aria-hidden /> {cancelling ? 'Stopping …' : 'Stop'}
        </button>
      </div>
      <progress className="eval-progress" aria-label="Cases done" value={done} max={Math.max(total, 1)} />
    </section>
  );
}
