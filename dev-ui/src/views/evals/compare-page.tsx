import { useQuery } from '@tanstack/react-query';
import type { CaseChange, MetricChange } from '../../../../src/schemas/evaluation/eval-result.ts';
import { compareEvalResults } from '../../api/evals.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { Crumbs } from './crumbs.tsx';
import { metricLabel, scoreText } from './outcome.tsx';
import './evals.css';

/** The differences between two runs: regressions first. */
export function ComparePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { app = '', set = '', before = '', after = '' } = params;
  const comparison = useQuery({
    queryKey: ['eval-comparison', app, before, after],
    queryFn: ({ signal }) => compareEvalResults(app, { before, after }, signal),
  });
  const run = (id: string): string => to('/apps/:app/evals/:set/runs/:run', { app, set, run: id });
  return (
    <div className="page">
      <div className="stack">
        <Crumbs app={app} set={set} />
        <h1>Compare runs</h1>
        <p className="secondary">
          <Link to={run(before)}>the earlier run</Link> → <Link to={run(after)}>the later run</Link>
        </p>
        {comparison.isPending && <Loading label="Comparing" />}
        {comparison.isError && <Failure error={comparison.error} onRetry={() => void comparison.refetch()} />}
        {comparison.data && (
          <>
            <p className="row run-line">
              {Object.entries(comparison.data.counts)
                .filter(([, count]) => count > 0)
                .map(([change, count]) => (
                  <span key={change} className={`badge change ${change}`}>
                    {count} {change}
                  </span>
                ))}
            </p>
            <div className="eval-scroll" tabIndex={0} role="group" aria-label="Differences">
              <table className="eval-table">
                <thead>
                  <tr>
                    <th scope="col">Case</th>
                    <th scope="col">Change</th>
                    <th scope="col">Metric</th>
                    <th scope="col" className="number">
                      Before
                    </th>
                    <th scope="col" className="number">
                      After
                    </th>
                    <th scope="col">Why</th>
                  </tr>
                </thead>
                <tbody>
                  {comparison.data.cases.map((one) => (
                    <CaseRows key={one.evalId} app={app} set={set} one={one} />
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </div>
    </div>
  );
}

const none: MetricChange = { metricName: '', change: 'same' };

function CaseRows({ app, set, one }: { readonly app: string; readonly set: string; readonly one: CaseChange }) {
  const { evalId, change, metrics } = one;
  // Unchanged metrics are left out when another one changed.
  const changed = metrics.filter((metric) => metric.change !== 'same');
  const shown = changed.length > 0 ? changed : [metrics[0] ?? none];
  return shown.map((metric, index) => (
    <tr key={metric.metricName}>
      {index === 0 && (
        <>
          <th scope="row" rowSpan={shown.length}>
            <Link to={to('/apps/:app/evals/:set/cases/:case', { app, set, case: evalId })}>{evalId}</Link>
          </th>
          <td rowSpan={shown.length}>
            <span className={`badge change ${change}`}>{change}</span>
          </td>
        </>
      )}
      <td>{changed.length > 0 ? metricLabel(metric.metricName) : 'all'}</td>
      <td className="number">{changed.length > 0 ? scoreText(metric.before) : ''}</td>
      <td className="number">{changed.length > 0 ? scoreText(metric.after) : ''}</td>
      <td className="secondary">{metric.reason}</td>
    </tr>
  ));
}
