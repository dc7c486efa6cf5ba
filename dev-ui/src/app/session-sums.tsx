import { addTokens, noTokens } from '../log/turns.ts';
import { shownCount } from '../parts/numbers.ts';
import { useLogVersion } from './current.ts';
import type { Workspace } from './workspace.ts';

/** Events, tokens of the whole session. */
export function SessionSums({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  const { log } = workspace;
  const tokens = [...log.turns.values()].map((turn) => turn.tokens).reduce(addTokens, noTokens);
  return (
    <span className="sums meta">
      <span>{shownCount(log.events.length)} events</span>
      {tokens.total > 0 && (
        <span title={`${tokens.input} in, ${tokens.output} out, ${tokens.cached} of them from the cache`}>
          ↑{shownCount(tokens.input)} ↓{shownCount(tokens.output)}
        </span>
      )}
    </span>
  );
}
