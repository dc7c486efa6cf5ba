import { Cost } from '../../app/cost.tsx';
import type { Turn } from '../../log/turns.ts';
import { shownCount, shownDuration } from '../../parts/numbers.ts';

/** What a turn took: time, model calls, tokens, and what they cost by the price table. */
export function TurnEnd({ turn }: { readonly turn: Turn }) {
  const { tokens, modelCalls, startedAt, endedAt } = turn;
  return (
    <p className="turn-end meta">
      <span>{shownDuration((endedAt - startedAt) * 1_000)}</span>
      {modelCalls > 0 && (
        <span>
          {modelCalls} model {modelCalls === 1 ? 'call' : 'calls'}
        </span>
      )}
      {tokens.total > 0 && (
        <span title="tokens in and out">
          ↑{shownCount(tokens.input)} ↓{shownCount(tokens.output)}
        </span>
      )}
      <Cost byModel={turn.byModel} />
    </p>
  );
}
