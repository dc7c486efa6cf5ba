import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EvalCase, Invocation } from '../../../../src/schemas/evaluation/eval-set.ts';
import { readEvalCase, replaceEvalCase } from '../../api/evals.ts';
import { messageOf } from '../../api/server.ts';
import { queries } from '../../app/queries.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { Crumbs } from './crumbs.tsx';
import { JsonField, parseJson } from './json-field.tsx';
import { ScenarioEditor } from './scenario-editor.tsx';
import { TurnEditor } from './turn-editor.tsx';
import './evals.css';

/** One case: the user messages and the expectations, to edit. */
export function CasePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { app = '', set = '', case: id = '' } = params;
  const [generation, setGeneration] = useState(0);
  const found = useQuery({
    queryKey: ['eval-case', app, set, id],
    queryFn: ({ signal }) => readEvalCase(app, set, id, signal),
    refetchOnWindowFocus: false, // it would discard the edits
  });
  return (
    <div className="page">
      <div className="stack">
        <Crumbs app={app} set={set} />
        <h1>{id}</h1>
        {found.isPending && <Loading label="Loading the case" />}
        {found.isError && <Failure error={found.error} onRetry={() => void found.refetch()} />}
        {found.data && (
          <CaseForm
            key={`${found.dataUpdatedAt} ${generation}`}
            app={app}
            set={set}
            saved={found.data}
            onReset={() => setGeneration(generation + 1)}
          />
        )}
      </div>
    </div>
  );
}

interface CaseFormProps {
  readonly app: string;
  readonly set: string;
  readonly saved: EvalCase;
  /** Discards the edits. */
  readonly onReset: () => void;
}

function CaseForm({ app, set, saved, onReset }: CaseFormProps) {
  const [draft, setDraft] = useState(saved);
  const [state, setState] = useState(JSON.stringify(saved.sessionInput?.state ?? {}, undefined, 2));
  const [faults, setFaults] = useState<ReadonlySet<string>>(new Set());
  const parsedState = parseJson(state);
  const isBroken = faults.size > 0 || !parsedState;
  const isChanged = draft !== saved || state !== JSON.stringify(saved.sessionInput?.state ?? {}, undefined, 2);
  const turns = draft.conversation ?? [];
  const setTurns = (conversation: Invocation[]): void => setDraft({ ...draft, conversation });
  const note = (place: string, isFaulty: boolean): void => {
    if (faults.has(place) === isFaulty) return;
    const changed = new Set(faults);
    if (isFaulty) changed.add(place);
    else changed.delete(place);
    setFaults(changed);
  };
  const save = async (): Promise<void> => {
    if (!parsedState) return;
    const sessionInput = { appName: app, userId: 'user', ...draft.sessionInput, state: parsedState };
    try {
      await replaceEvalCase(app, set, { ...draft, sessionInput });
      await queries.invalidateQueries({ queryKey: ['eval-set', app, set] });
      await queries.invalidateQueries({ queryKey: ['eval-case', app, set, saved.evalId] });
      toast('Saved');
    } catch (error) {
      toast(messageOf(error), { tone: 'error' });
    }
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save(); // its failures are shown
      }}
    >
      {draft.conversationScenario ? (
        <ScenarioEditor
          scenario={draft.conversationScenario}
          onChange={(conversationScenario) => setDraft({ ...draft, conversationScenario })}
        />
      ) : (
        turns.map((turn, index) => (
          <TurnEditor
            key={turn.invocationId || index}
            number={index + 1}
            turn={turn}
            onChange={(changed) => setTurns(turns.map((one, at) => (at === index ? changed : one)))}
            onFault={(isFaulty) => note(`turn ${index}`, isFaulty)}
            {...(turns.length > 1 && { onRemove: () => setTurns(turns.filter((_, at) => at !== index)) })}
          />
        ))
      )}
      {!draft.conversationScenario && (
        <p>
          <button type="button" className="button" onClick={() => setTurns([...turns, emptyTurn()])}>
            Add turn
          </button>
        </p>
      )}
      <details open={state !== '{}'}>
        <summary>Initial state of the session</summary>
        <JsonField label="State, as JSON" value={state} onChange={setState} />
      </details>
      <div className="row end">
        <button type="button" className="button" disabled={!isChanged} onClick={onReset}>
          Discard changes
        </button>
        <button type="submit" className="button primary" disabled={!isChanged || isBroken}>
          Save
        </button>
      </div>
    </form>
  );
}

const emptyTurn = (): Invocation => ({
  invocationId: `e-${crypto.randomUUID()}`,
  userContent: { role: 'user', parts: [{ text: '' }] },
  finalResponse: { role: 'model', parts: [{ text: '' }] },
  intermediateData: { toolUses: [] },
  creationTimestamp: Date.now() / 1000,
});
