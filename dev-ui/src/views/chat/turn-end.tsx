import { Cost } from '../../app/cost.tsx';
import { setQuery } from '../../app/location.ts';
import { changeSettings } from '../../app/settings.ts';
import type { EventLog } from '../../log/event-log.ts';
import type { Turn } from '../../log/turns.ts';
import { shownCount, shownDuration } from '../../parts/numbers.ts';

/** What a turn used: time, model calls, tokens, and their cost by the price table. */
export function TurnEnd({ turn, log }: { readonly turn: Turn; readonly log: EventLog }) {
  const { tokens, modelCalls, startedAt, endedAt } = turn;
  return (
    <p className="turn-end meta">
      <span>{shownDuration((endedAt - startedAt) * 1_000)}</span>
      {modelCalls > 0 && (
        <button type="button" className="in-text" title="Show the model request" onClick={() => showCall(log, turn)}>
          {modelCalls} model {modelCalls === 1 ? 'call' : 'calls'}
        </button>
      )}
      {tokens.total > 0 && (
        <span title="Input and output tokens">
          ↑{shownCount(tokens.input)} ↓{shownCount(tokens.output)}
        </span>
      )}
      <Cost byModel={turn.byModel} />
    </p>
  );
}

/** Opens the last model call of a turn in the inspector. */
function showCall({ events }: EventLog, { first, last, invocationId }: Turn): void {
  const call = events
    .slice(first, last + 1)
    .findLast((event) => event.invocationId === invocationId && event.usageMetadata !== undefined);
  if (!call) return;
  changeSettings({ rightOpen: true });
  setQuery({ e: call.id, t: 'model' });
}
