import { Trash2 } from 'lucide-react';
import type { EvalCase, EvalSet } from '../../../../src/schemas/evaluation/eval-set.ts';
import { addEvalCase, deleteEvalCase } from '../../api/evals.ts';
import { messageOf } from '../../api/server.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { queries } from '../../app/queries.ts';
import { shownDay } from '../../parts/numbers.ts';
import { Empty } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';

interface CaseTableProps {
  readonly app: string;
  readonly set: EvalSet;
}

/** The cases of a set. */
export function CaseTable({ app, set: { evalSetId, evalCases } }: CaseTableProps) {
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ['eval-set', app, evalSetId] });
  const restore = async (evalCase: EvalCase): Promise<void> => {
    await addEvalCase(app, evalSetId, evalCase);
    await refresh();
  };
  const remove = async (evalCase: EvalCase): Promise<void> => {
    try {
      await deleteEvalCase(app, evalSetId, evalCase.evalId);
      await refresh();
      toast(`Deleted “${evalCase.evalId}”`, {
        action: { label: 'Undo', run: () => void restore(evalCase).catch(failed) },
      });
    } catch (error) {
      failed(error);
    }
  };
  if (evalCases.length === 0) {
    return (
      <Empty title="No cases yet">
        Open a session that went well and save it as a case: with the key <kbd>c</kbd> on an event, or from the palette.
      </Empty>
    );
  }
  return (
    <section>
      <h2>Cases</h2>
      <table className="eval-table">
        <thead>
          <tr>
            <th scope="col">Case</th>
            <th scope="col">First message</th>
            <th scope="col">Turns</th>
            <th scope="col">Created</th>
            <th scope="col">
              <span className="visually-hidden">Delete</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {evalCases.map((one) => (
            <tr key={one.evalId}>
              <th scope="row">
                <Link to={to('/apps/:app/evals/:set/cases/:case', { app, set: evalSetId, case: one.evalId })}>
                  {one.evalId}
                </Link>
              </th>
              <td>{beginningOf(one)}</td>
              <td>{one.conversation?.length ?? 'simulated user'}</td>
              <td>{one.creationTimestamp > 0 ? shownDay(one.creationTimestamp) : ''}</td>
              <td className="number">
                <button
                  type="button"
                  className="icon-button"
                  aria-label={`Delete case ${one.evalId}`}
                  onClick={() => void remove(one)}
                >
                  <Trash2 size={14} aria-hidden />
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const failed = (error: unknown): void => void toast(messageOf(error), { tone: 'error' });
const shownLength = 80;

function beginningOf({ conversation, conversationScenario }: EvalCase): string {
  const [first] = conversation ?? [];
  const text =
    conversationScenario?.startingPrompt ?? (first?.userContent.parts ?? []).map((part) => part.text ?? '').join(' ');
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}
