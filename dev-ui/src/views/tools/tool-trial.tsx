import { Play } from 'lucide-react';
import { useRef, useState } from 'react';
import type { AppTool, ToolOutcome } from '../../../../src/schemas/extensions.ts';
import { runTool } from '../../api/extensions.ts';
import { isAbort } from '../../api/server.ts';
import { announce } from '../../app/announce.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { shownDuration } from '../../parts/numbers.ts';
import { JsonField, SchemaForm } from '../../parts/schema-form.tsx';
import { Failure } from '../../parts/states.tsx';
import { ThrownError } from '../../parts/thrown-error.tsx';

interface ToolTrialProps {
  readonly app: string;
  readonly tool: AppTool;
  readonly canRun: boolean;
}

interface Trial {
  readonly args: unknown;
  readonly outcome: ToolOutcome;
}

const mostTrials = 20;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One tool: its description, a form for its arguments, and the results of its runs. */
export function ToolTrial({ app, tool, canRun }: ToolTrialProps) {
  const { agent, name, kind, description, parameters, asksFirst, isLongRunning } = tool;
  const [args, setArgs] = useState<unknown>({});
  const [state, setState] = useState<unknown>({});
  const [trials, setTrials] = useState<readonly Trial[]>([]);
  const [failure, setFailure] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController>(undefined);
  const run = async (): Promise<void> => {
    if (!isObject(args) || !isObject(state)) return;
    const stop = new AbortController();
    running.current = stop;
    setRunning(true);
    setFailure(undefined);
    try {
      const outcome = await runTool(app, { agent, name, args, state }, stop.signal);
      setTrials((before) => [{ args, outcome }, ...before].slice(0, mostTrials));
      announce(`${name} finished`);
    } catch (error) {
      if (!isAbort(error)) setFailure(error);
    } finally {
      setRunning(false);
    }
  };
  return (
    <section className="tool-trial stack" aria-label={`Tool ${name}`}>
      <div className="row">
        <h2 className="mono truncate">{name}</h2>
        {kind !== 'tool' && <span className="badge">{kind}</span>}
        {asksFirst && <span className="badge">needs confirmation</span>}
        {isLongRunning && <span className="badge">long-running</span>}
        <span className="meta truncate">{agent}</span>
      </div>
      {description !== '' && (
        <p className="secondary tool-about" tabIndex={0}>
          {description}
        </p>
      )}
      {kind === 'toolset' ? (
        <p className="secondary">
          The tools of a toolset are listed while an agent runs: see the request of a model call.
        </p>
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
        >
          <h3>Arguments</h3>
          <SchemaForm label={`Arguments of ${name}`} schema={parameters} value={args} onChange={setArgs} />
          <details>
            <summary>State that the tool reads</summary>
            <JsonField label="State that the tool reads" value={state} onChange={setState} />
          </details>
          {canRun ? (
            <div className="row">
              <button
                type="submit"
                className="button primary"
                disabled={isRunning || !isObject(args) || !isObject(state)}
              >
                <Play size={14} aria-hidden /> Run
              </button>
              {isRunning && (
                <button type="button" className="button" onClick={() => running.current?.abort()}>
                  Stop
                </button>
              )}
              <span className="meta">Runs without a model. Changes to state and artifacts are discarded.</span>
            </div>
          ) : (
            <p className="secondary">This server runs tools only through agents.</p>
          )}
        </form>
      )}
      {failure !== undefined && <Failure error={failure} />}
      {trials.map(({ args: given, outcome }, index) => (
        <Outcome key={trials.length - index} given={given} outcome={outcome} />
      ))}
    </section>
  );
}

function Outcome({ given, outcome }: { readonly given: unknown; readonly outcome: ToolOutcome }) {
  const { response, stateDelta, artifacts, requests, ms, thrown } = outcome;
  return (
    <section className="card stack" aria-label="Result">
      <p className="row">
        <code className="truncate grow">{JSON.stringify(given)}</code>
        <span className="meta">{shownDuration(ms)}</span>
      </p>
      {thrown && <ThrownError {...thrown} />}
      {response ? (
        <JsonTree value={response} label="Result" />
      ) : (
        <p className="secondary">No response yet: the user or the application has to answer this call.</p>
      )}
      {requests.map(({ call, hint }) => (
        <p key={call.id} className="secondary">
          It requests: {hint ?? call.name}
        </p>
      ))}
      {Object.keys(stateDelta).length > 0 && (
        <p className="secondary">
          It would change the state: <code>{JSON.stringify(stateDelta)}</code>
        </p>
      )}
      {Object.keys(artifacts).length > 0 && (
        <p className="secondary">It would save: {Object.keys(artifacts).join(', ')}</p>
      )}
    </section>
  );
}
