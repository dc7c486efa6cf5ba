import { useMemo } from 'react';
import type { EventLog } from '../log/event-log.ts';
import { addTokens, noTokens, type Tokens } from '../log/turns.ts';
import { shownCount, shownDuration } from '../parts/numbers.ts';
import { BudgetUse } from './budget.tsx';
import { Cost } from './cost.tsx';
import { useLogVersion } from './current.ts';
import type { Workspace } from './workspace.ts';

interface Sums {
  readonly tokens: Tokens;
  readonly byModel: Readonly<Record<string, Tokens>>;
  readonly ms: number;
}

function sumsOf(log: EventLog): Sums {
  let tokens = noTokens;
  let seconds = 0;
  const byModel: Record<string, Tokens> = {};
  for (const turn of log.turns.values()) {
    tokens = addTokens(tokens, turn.tokens);
    seconds += turn.endedAt - turn.startedAt;
    for (const [model, used] of Object.entries(turn.byModel))
      byModel[model] = addTokens(byModel[model] ?? noTokens, used);
  }
  return { tokens, byModel, ms: seconds * 1_000 };
}

/** Events, tokens, cost, budget and time of the whole session. */
export function SessionSums({ workspace }: { readonly workspace: Workspace }) {
  const version = useLogVersion(workspace);
  const { log } = workspace;
  const { tokens, byModel, ms } = useMemo(() => {
    void version; // the log is the same object, whatever is added to it
    return sumsOf(log);
  }, [log, version]);
  return (
    <span className="sums meta">
      <span>{shownCount(log.events.length)} events</span>
      {tokens.total > 0 && (
        <span
          title={`${tokens.input} input tokens, ${tokens.output} output tokens, ${tokens.cached} input tokens from the cache`}
        >
          ↑{shownCount(tokens.input)} ↓{shownCount(tokens.output)}
        </span>
      )}
      <Cost byModel={byModel} />
      <BudgetUse workspace={workspace} />
      {ms > 0 && <span title="Total time of all runs">{shownDuration(ms)}</span>}
    </span>
  );
}
