import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useEffect } from 'react';
import { createEvalSet, listEvalRuns, listEvalSets, readEvalSet } from '../../api/evals.ts';
import { messageOf } from '../../api/server.ts';
import { Link } from '../../app/link.tsx';
import { navigate, to } from '../../app/location.ts';
import { prompt } from '../../app/prompts.tsx';
import { queries } from '../../app/queries.ts';
import { changeSettings } from '../../app/settings.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { RunLine } from './run-line.tsx';
import './evals.css';

/** The evaluation sets of an app. */
export function SetsPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const app = params['app'] ?? '';
  const sets = useQuery({ queryKey: ['eval-sets', app], queryFn: ({ signal }) => listEvalSets(app, signal) });
  useEffect(() => changeSettings({ lastApp: app }), [app]);
  const create = async (name: string): Promise<void> => {
    try {
      await createEvalSet(app, name);
      await queries.invalidateQueries({ queryKey: ['eval-sets', app] });
      navigate(to('/apps/:app/evals/:set', { app, set: name }));
    } catch (error) {
      toast(messageOf(error), { tone: 'error' });
    }
  };
  const ask = (): void =>
    prompt({
      title: 'New evaluation set',
      label: 'Name (letters, digits and _)',
      action: 'Create',
      onSubmit: (name) => void create(name.trim()),
    });
  return (
    <div className="page">
      <div className="stack">
        <header className="row">
          <h1 className="grow">Evaluations of {app}</h1>
          <button type="button" className="button" onClick={ask}>
            <Plus size={14} aria-hidden /> New set
          </button>
        </header>
        {sets.isPending && <Loading label="Loading sets" />}
        {sets.isError && <Failure error={sets.error} onRetry={() => void sets.refetch()} />}
        {sets.data?.length === 0 && (
          <Empty title="No evaluation sets yet">
            A set holds conversations to repeat as tests. Create one here, or open a session and save it as a case: from
            the menu of an event, with the key <kbd>c</kbd>, or from the palette.
          </Empty>
        )}
        {(sets.data?.length ?? 0) > 0 && (
          <table className="eval-table">
            <thead>
              <tr>
                <th scope="col">Set</th>
                <th scope="col">Cases</th>
                <th scope="col">Last run</th>
              </tr>
            </thead>
            <tbody>
              {sets.data?.map((set) => (
                <SetRow key={set} app={app} set={set} />
              ))}
            </tbody>
          </table>
        )}
      </div>
    </div>
  );
}

function SetRow({ app, set }: { readonly app: string; readonly set: string }) {
  const whole = useQuery({ queryKey: ['eval-set', app, set], queryFn: ({ signal }) => readEvalSet(app, set, signal) });
  const runs = useQuery({ queryKey: ['eval-runs', app, set], queryFn: ({ signal }) => listEvalRuns(app, set, signal) });
  const [last] = runs.data ?? [];
  return (
    <tr>
      <th scope="row">
        <Link to={to('/apps/:app/evals/:set', { app, set })}>{set}</Link>
      </th>
      <td>{whole.isError ? <span className="error-text">cannot be read</span> : whole.data?.evalCases.length}</td>
      <td>{last ? <RunLine app={app} run={last} /> : <span className="meta">never</span>}</td>
    </tr>
  );
}
