import { useQuery } from '@tanstack/react-query';
import { Play, Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { deleteEvalSet, type EvalRunBody, listEvalRuns, readEvalSet } from '../../api/evals.ts';
import { messageOf } from '../../api/server.ts';
import { navigate, to } from '../../app/location.ts';
import { queries } from '../../app/queries.ts';
import { changeSettings } from '../../app/settings.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { CaseTable } from './case-table.tsx';
import { Crumbs } from './crumbs.tsx';
import { Progress } from './progress.tsx';
import { RunDialog } from './run-dialog.tsx';
import { RunTable } from './run-table.tsx';
import { runningIn, startRun, useRunning } from './running.ts';
import './evals.css';

/** One set: its cases, a run in progress, and the runs before it. */
export function SetPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { app = '', set = '' } = params;
  const [asking, setAsking] = useState<'run' | 'delete'>();
  const running = useStore(useRunning, (runs) => runningIn(runs, app, set));
  const whole = useQuery({ queryKey: ['eval-set', app, set], queryFn: ({ signal }) => readEvalSet(app, set, signal) });
  const runs = useQuery({ queryKey: ['eval-runs', app, set], queryFn: ({ signal }) => listEvalRuns(app, set, signal) });
  useEffect(() => changeSettings({ lastApp: app }), [app]);
  const isRunning = running !== undefined && running.over !== true;
  const run = (body: EvalRunBody): void => {
    setAsking(undefined);
    void startRun(app, set, body); // its failures show in its progress
  };
  return (
    <div className="page">
      <div className="stack">
        <Crumbs app={app} />
        <header className="row">
          <h1 className="grow truncate">{set}</h1>
          <button
            type="button"
            className="icon-button"
            aria-label={`Delete set ${set}`}
            onClick={() => setAsking('delete')}
          >
            <Trash2 size={16} aria-hidden />
          </button>
          <button
            type="button"
            className="button primary"
            disabled={isRunning || (whole.data?.evalCases.length ?? 0) === 0}
            onClick={() => setAsking('run')}
          >
            <Play size={14} aria-hidden /> Run
          </button>
        </header>
        {running && <Progress run={running} />}
        {whole.isPending && <Loading label="Loading the set" />}
        {whole.isError && <Failure error={whole.error} onRetry={() => void whole.refetch()} />}
        {whole.data && <CaseTable app={app} set={whole.data} />}
        {runs.isError && <Failure error={runs.error} onRetry={() => void runs.refetch()} />}
        {(runs.data?.length ?? 0) > 0 && <RunTable app={app} set={set} runs={runs.data ?? []} />}
      </div>
      {asking === 'run' && <RunDialog app={app} onRun={run} onClose={() => setAsking(undefined)} />}
      {asking === 'delete' && <DeleteDialog app={app} set={set} onClose={() => setAsking(undefined)} />}
    </div>
  );
}

function DeleteDialog({
  app,
  set,
  onClose,
}: {
  readonly app: string;
  readonly set: string;
  readonly onClose: () => void;
}) {
  const remove = async (): Promise<void> => {
    try {
      await deleteEvalSet(app, set);
      await queries.invalidateQueries({ queryKey: ['eval-sets', app] });
      navigate(to('/apps/:app/evals', { app }));
    } catch (error) {
      toast(messageOf(error), { tone: 'error' });
    }
  };
  return (
    <Dialog title={`Delete “${set}”?`} onClose={onClose}>
      <div className="stack">
        <p>This deletes the set and its cases. The results of its runs stay.</p>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="button danger" onClick={() => void remove()}>
            Delete
          </button>
        </div>
      </div>
    </Dialog>
  );
}
