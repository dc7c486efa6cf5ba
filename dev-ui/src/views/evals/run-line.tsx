import type { EvalRunSummary } from '../../../../src/schemas/evaluation/eval-result.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { shownDay, shownTime } from '../../parts/numbers.ts';

/** A run in one line: its time and its counts. */
export function RunLine({ app, run }: { readonly app: string; readonly run: EvalRunSummary }) {
  const { evalSetResultId, evalSetId, creationTimestamp, passed, failed, errors, cancelled, mode } = run;
  return (
    <span className="row run-line">
      <Link to={to('/apps/:app/evals/:set/runs/:run', { app, set: evalSetId, run: evalSetResultId })}>
        {shownDay(creationTimestamp)}, {shownTime(creationTimestamp)}
      </Link>
      <Counts passed={passed} failed={failed} errors={errors} />
      {mode !== undefined && mode !== 'live' && <span className="badge">{mode}</span>}
      {cancelled && <span className="badge">cancelled</span>}
    </span>
  );
}

export function Counts({ passed, failed, errors }: { passed: number; failed: number; errors: number }) {
  return (
    <span className="row">
      <span className="badge outcome passed">{passed} passed</span>
      {failed > 0 && <span className="badge outcome failed">{failed} failed</span>}
      {errors > 0 && <span className="badge outcome error">{errors} with errors</span>}
    </span>
  );
}
