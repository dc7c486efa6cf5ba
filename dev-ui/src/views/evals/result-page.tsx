import { useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useState } from 'react';
import type { EvalSetResult } from '../../../../src/schemas/evaluation/eval-result.ts';
import { listEvalRuns, readEvalResult } from '../../api/evals.ts';
import { Link } from '../../app/link.tsx';
import { navigate, to } from '../../app/location.ts';
import { shownDay, shownTime } from '../../parts/numbers.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { CaseResult } from './case-result.tsx';
import { Crumbs } from './crumbs.tsx';
import { metricLabel, outcomeOf, scoreText } from './outcome.tsx';
import { Counts } from './run-line.tsx';
import { startRun } from './running.ts';
import './evals.css';

/** The result of an evaluation run: failed cases first, with reasons. */
export function ResultPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { app = '', set = '', run = '' } = params;
  const result = useQuery({
    queryKey: ['eval-result', app, run],
    queryFn: ({ signal }) => readEvalResult(app, run, signal),
  });
  const runs = useQuery({ queryKey: ['eval-runs', app, set], queryFn: ({ signal }) => listEvalRuns(app, set, signal) });
  const ids = runs.data?.map(({ evalSetResultId }) => evalSetResultId) ?? [];
  const before = ids[ids.indexOf(run) + 1];
  const again = (data: EvalSetResult): void => {
    const failing = data.evalCaseResults.filter((one) => outcomeOf(one) !== 'passed').map(({ evalId }) => evalId);
    navigate(to('/apps/:app/evals/:set', { app, set }));
    void startRun(app, set, {
      ...sameMetrics(data),
      ...(failing.length > 0 && { evalCaseIds: [...new Set(failing)] }),
    });
  };
  return (
    <div className="page">
      <div className="stack">
        <Crumbs app={app} set={set} />
        {result.isPending && <Loading label="Loading the result" />}
        {result.isError && <Failure error={result.error} onRetry={() => void result.refetch()} />}
        {result.data && (
          <>
            <header className="row run-line">
              <h1 className="grow">
                Run of {shownDay(result.data.creationTimestamp)}, {shownTime(result.data.creationTimestamp)}
              </h1>
              {before !== undefined && ids.includes(run) && (
                <Link
                  className="button"
                  to={to('/apps/:app/evals/:set/runs/:before/vs/:after', { app, set, before, after: run })}
                >
                  Compare with previous run
                </Link>
              )}
              <button type="button" className="button" onClick={() => again(result.data)}>
                <Play size={14} aria-hidden /> Run {hasFailures(result.data) ? 'failed cases again' : 'again'}
              </button>
            </header>
            <Cases app={app} result={result.data} />
          </>
        )}
      </div>
    </div>
  );
}

/** Failed cases that are expanded at first. */
const openedAtOnce = 10;

const hasFailures = ({ evalCaseResults }: EvalSetResult): boolean =>
  evalCaseResults.some((one) => outcomeOf(one) !== 'passed');

/** The metrics a run applied, to apply them again. */
function sameMetrics({ evalCaseResults }: EvalSetResult) {
  const [first] = evalCaseResults;
  const evalMetrics = (first?.overallEvalMetricResults ?? []).map(({ metricName, threshold, criterion }) => ({
    metricName,
    ...(threshold !== undefined && { threshold }),
    ...(criterion && { criterion }),
  }));
  return evalMetrics.length > 0 ? { evalMetrics } : {};
}

function Cases({ app, result }: { readonly app: string; readonly result: EvalSetResult }) {
  const { evalCaseResults, spread, cancelled, mode } = result;
  const outcomes = evalCaseResults.map(outcomeOf);
  const count = (wanted: string): number => outcomes.filter((outcome) => outcome === wanted).length;
  const [onlyFailed, setOnlyFailed] = useState(count('passed') < outcomes.length && outcomes.length > 10);
  const shown = evalCaseResults
    .filter((_, index) => !onlyFailed || outcomes[index] !== 'passed')
    .toSorted((a, b) => Number(outcomeOf(a) === 'passed') - Number(outcomeOf(b) === 'passed'));
  return (
    <>
      <div className="row run-line">
        <Counts passed={count('passed')} failed={count('failed')} errors={count('error')} />
        {mode !== undefined && mode !== 'live' && <span className="badge">{mode}</span>}
        {cancelled === true && <span className="badge">cancelled</span>}
        <label className="row">
          <input type="checkbox" checked={onlyFailed} onChange={() => setOnlyFailed(!onlyFailed)} /> Only cases that did
          not pass
        </label>
      </div>
      {spread && spread.length > 0 && (
        <details>
          <summary>Variation between repetitions</summary>
          <ul className="secondary">
            {spread.map(({ evalId, metricName, mean, deviation, min, max, passed, runs }) => (
              <li key={`${evalId} ${metricName}`}>
                {evalId}, {metricLabel(metricName)}: {scoreText(mean)} ± {scoreText(deviation)} ({scoreText(min)} to{' '}
                {scoreText(max)}), {passed} of {runs} passed
              </li>
            ))}
          </ul>
        </details>
      )}
      <div>
        {shown.map((one, index) => (
          <CaseResult
            key={`${one.evalId} ${one.repetition ?? 1}`}
            app={app}
            result={one}
            isOpen={index < openedAtOnce && outcomeOf(one) !== 'passed'}
          />
        ))}
      </div>
    </>
  );
}
