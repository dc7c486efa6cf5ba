import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { addSessionToSet, createEvalSet, listEvalSets } from '../../api/evals.ts';
import { messageOf } from '../../api/server.ts';
import { navigate, to } from '../../app/location.ts';
import { queries } from '../../app/queries.ts';
import type { Workspace } from '../../app/workspace.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import { askToSave, type ToSave, useSaving } from './save-state.ts';

const usualSet = 'main';

/** Asks for the set of a session or turn; creates the set if it does not exist. */
export function SaveDialog({ workspace }: { readonly workspace: Workspace }) {
  const asked = useSaving((state) => state.asked);
  if (asked?.key.sessionId !== workspace.key.sessionId) return null;
  return <SaveForm asked={asked} first={firstWords(workspace, asked)} />;
}

function SaveForm({ asked, first }: { readonly asked: ToSave; readonly first: string }) {
  const { appName } = asked.key;
  const sets = useQuery({ queryKey: ['eval-sets', appName], queryFn: ({ signal }) => listEvalSets(appName, signal) });
  const [set, setSet] = useState<string>();
  const [evalId, setEvalId] = useState(first);
  const [failure, setFailure] = useState('');
  const chosen = set ?? sets.data?.[0] ?? usualSet;
  const close = (): void => askToSave(undefined);
  const save = async (): Promise<void> => {
    try {
      if (!sets.data?.includes(chosen)) await createEvalSet(appName, chosen);
      const { invocationId } = asked;
      await addSessionToSet(asked.key, chosen, { evalId, ...(invocationId && { invocationIds: [invocationId] }) });
      await queries.invalidateQueries({ queryKey: ['eval-sets', appName] });
      await queries.invalidateQueries({ queryKey: ['eval-set', appName, chosen] });
      close();
      const address = to('/apps/:app/evals/:set/cases/:case', { app: appName, set: chosen, case: evalId });
      toast(`Saved “${evalId}” in ${chosen}`, { action: { label: 'Open', run: () => navigate(address) } });
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    void save(); // its failure shows in the dialog
  };
  return (
    <Dialog title={asked.invocationId === undefined ? 'Save session as case' : 'Save turn as case'} onClose={close}>
      <form className="stack" onSubmit={onSubmit}>
        <label className="field">
          <span>Name of the case</span>
          <input className="input" value={evalId} onChange={(e) => setEvalId(e.target.value)} />
        </label>
        <label className="field">
          <span>Evaluation set</span>
          <input className="input" list="eval-set-names" value={chosen} onChange={(e) => setSet(e.target.value)} />
        </label>
        <datalist id="eval-set-names">
          {sets.data?.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {failure !== '' && (
          <p className="error-text" role="alert">
            {failure}
          </p>
        )}
        <div className="row end">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={evalId.trim() === '' || chosen.trim() === ''}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A name from the first user message. */
function firstWords({ log }: Workspace, { invocationId }: ToSave): string {
  const said = log.events.find(
    (event) => event.author === 'user' && (invocationId === undefined || event.invocationId === invocationId),
  );
  const text = (said?.content?.parts ?? []).map((part) => part.text ?? '').join(' ');
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 6).join('_').slice(0, 60) || 'case';
}
