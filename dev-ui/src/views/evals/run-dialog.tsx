import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { MetricInfo } from '../../../../src/schemas/evaluation/eval-metric.ts';
import type { Rubric } from '../../../../src/schemas/evaluation/eval-set.ts';
import { type EvalRunBody, listMetrics } from '../../api/evals.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { metricLabel } from './outcome.tsx';

interface RunDialogProps {
  readonly app: string;
  readonly onRun: (body: EvalRunBody) => void;
  readonly onClose: () => void;
}

type Mode = 'live' | 'record' | 'recorded';
const modes: readonly (readonly [Mode, string])[] = [
  ['live', 'Live: call the models'],
  ['record', 'Record: call the models and record their responses'],
  ['recorded', 'Recorded: replay recorded responses'],
];

/** Which metrics a run applies, and how. By default those of the app's test_config.json, or ADK's two default metrics. */
export function RunDialog({ app, onRun, onClose }: RunDialogProps) {
  const metrics = useQuery({ queryKey: ['eval-metrics', app], queryFn: ({ signal }) => listMetrics(app, signal) });
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const [mode, setMode] = useState<Mode | ''>('');
  const [repetitions, setRepetitions] = useState('1');
  const [concurrency, setConcurrency] = useState('4');
  const [judge, setJudge] = useState('');
  const [rubrics, setRubrics] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const evalMetrics = Object.entries(chosen).map(([metricName, text]) => ({
      metricName,
      ...(text.trim() !== '' && { threshold: Number(text) }),
      ...(asksRubrics(metricName) && rubrics.trim() !== '' && { criterion: { rubrics: rubricsIn(rubrics) } }),
      ...(judge.trim() !== '' && { judgeModelOptions: { judgeModel: judge.trim() } }),
    }));
    onRun({
      ...(evalMetrics.length > 0 && { evalMetrics }),
      ...(mode !== '' && { mode }),
      repetitions: Number(repetitions),
      concurrency: Number(concurrency),
    });
  };
  return (
    <Dialog title="Run evaluation set" wide onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <fieldset className="choice">
          <legend>Metrics</legend>
          <p className="meta">Default: the metrics in the app’s test_config.json, or ADK’s two default metrics.</p>
          {metrics.isPending && <Loading label="Loading metrics" />}
          {metrics.isError && <Failure error={metrics.error} onRetry={() => void metrics.refetch()} />}
          <div className="metric-choices" tabIndex={0} role="group" aria-label="Metrics">
            {metrics.data?.map((metric) => (
              <MetricChoice key={metric.metricName} metric={metric} chosen={chosen} onChange={setChosen} />
            ))}
          </div>
        </fieldset>
        {Object.keys(chosen).some(asksRubrics) && (
          <label className="field">
            <span>Rubrics, one per line, in addition to those of the cases</span>
            <textarea
              className="input"
              rows={3}
              placeholder="The answer names a price."
              value={rubrics}
              onChange={(event) => setRubrics(event.target.value)}
            />
          </label>
        )}
        <div className="sides">
          <label className="field">
            <span>Models</span>
            <select className="input" value={mode} onChange={(event) => setMode(event.target.value as Mode | '')}>
              <option value="">Default of the set</option>
              {modes.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <Count label="Repetitions per case" value={repetitions} most={100} onChange={setRepetitions} />
          <Count label="Concurrent cases" value={concurrency} most={64} onChange={setConcurrency} />
          <label className="field">
            <span>Judge model, for metrics that use one</span>
            <input
              className="input"
              placeholder="The server's default model"
              value={judge}
              onChange={(event) => setJudge(event.target.value)}
            />
          </label>
        </div>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary">
            Run
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const asksRubrics = (metricName: string): boolean => metricName.startsWith('rubric_based');

const rubricsIn = (text: string): Rubric[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((textProperty, index) => ({ rubricId: `asked_${index + 1}`, rubricContent: { textProperty } }));

interface MetricChoiceProps {
  readonly metric: MetricInfo;
  /** Thresholds by the names of the chosen metrics; empty: the default. */
  readonly chosen: Readonly<Record<string, string>>;
  readonly onChange: (chosen: Readonly<Record<string, string>>) => void;
}

function MetricChoice({ metric: { metricName, description }, chosen, onChange }: MetricChoiceProps) {
  const isChosen = metricName in chosen;
  const toggle = (): void => {
    const { [metricName]: _, ...others } = chosen;
    onChange(isChosen ? others : { ...others, [metricName]: '' });
  };
  return (
    <div className="metric-choice">
      <input id={`metric-${metricName}`} type="checkbox" checked={isChosen} onChange={toggle} />
      <label htmlFor={`metric-${metricName}`}>{metricLabel(metricName)}</label>
      {isChosen && (
        <input
          className="input"
          type="number"
          step="any"
          placeholder="threshold"
          aria-label={`Threshold of ${metricLabel(metricName)}`}
          value={chosen[metricName]}
          onChange={(event) => onChange({ ...chosen, [metricName]: event.target.value })}
        />
      )}
      <span className="meta">{description}</span>
    </div>
  );
}

interface CountProps {
  readonly label: string;
  readonly value: string;
  readonly most: number;
  readonly onChange: (value: string) => void;
}

function Count({ label, value, most, onChange }: CountProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        type="number"
        min={1}
        max={most}
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
