import { useState } from 'react';
import type { EvalRunSummary } from '../../../../src/schemas/evaluation/eval-result.ts';
import { navigate, to } from '../../app/location.ts';
import { shownDay, shownTime } from '../../parts/numbers.ts';
import { RunLine } from './run-line.tsx';

interface RunTableProps {
  readonly app: string;
  readonly set: string;
  /** Newest first. */
  readonly runs: readonly EvalRunSummary[];
}

/** The runs of a set; two of them can be compared. */
export function RunTable({ app, set, runs }: RunTableProps) {
  const [marked, setMarked] = useState<readonly string[]>([]);
  const toggle = (id: string): void =>
    setMarked(marked.includes(id) ? marked.filter((one) => one !== id) : [...marked.slice(-1), id]);
  const compare = (): void => {
    const [after, before] = runs.map(({ evalSetResultId }) => evalSetResultId).filter((id) => marked.includes(id));
    if (before === undefined || after === undefined) return;
    navigate(to('/apps/:app/evals/:set/runs/:before/vs/:after', { app, set, before, after }));
  };
  return (
    <section>
      <header className="row">
        <h2 className="grow">Runs</h2>
        {runs.length > 1 && (
          <button type="button" className="button small" disabled={marked.length !== 2} onClick={compare}>
            Compare two
          </button>
        )}
      </header>
      <ul className="stack">
        {runs.map((run) => (
          <li key={run.evalSetResultId} className="row">
            {runs.length > 1 && (
              <input
                type="checkbox"
                aria-label={`Compare the run of ${shownDay(run.creationTimestamp)}, ${shownTime(run.creationTimestamp)}`}
                checked={marked.includes(run.evalSetResultId)}
                onChange={() => toggle(run.evalSetResultId)}
              />
            )}
            <RunLine app={app} run={run} />
          </li>
        ))}
      </ul>
    </section>
  );
}
