import { useQuery } from '@tanstack/react-query';
import type { UsageReport } from '../../../src/schemas/budget.ts';
import { readCapabilities, readUsage } from '../api/extensions.ts';
import { shownCount, shownDuration } from '../parts/numbers.ts';
import { useLogVersion, useWorkspaceVersion } from './current.ts';
import type { Workspace } from './workspace.ts';

type Budget = UsageReport['budgets'][number];

const scopes = { run: 'of the run', session: 'of the session', userDay: 'today', appDay: 'of the app today' } as const;
const units = { tokens: 'tokens', cost: '', modelCalls: 'model calls', toolCalls: 'tool calls', wallTimeMs: '' };
/** The share of a budget from which it is shown as a warning. */
const nearlyUsed = 0.8;

/** The budget of the session that is used most; all of them in its title. Nothing where the server has no budgets. */
export function BudgetUse({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  useWorkspaceVersion(workspace);
  const { key, log, run } = workspace;
  const capabilities = useQuery({ queryKey: ['capabilities'], queryFn: ({ signal }) => readCapabilities(signal) });
  const { data } = useQuery({
    // Usage changes with runs: read again when one begins or ends.
    queryKey: ['usage', key, log.turns.size, run.status],
    queryFn: ({ signal }) => readUsage(key, signal),
    enabled: capabilities.data?.features.includes('usage') ?? false,
    placeholderData: (previous) => previous,
    retry: false,
  });
  const most = data?.budgets.toSorted((a, b) => shareOf(b) - shareOf(a))[0];
  if (!data || !most) return null;
  const share = shareOf(most);
  const level = share >= 1 ? 'used-up' : share >= nearlyUsed ? 'nearly-used' : undefined;
  return (
    <span className={level && `budget ${level}`} title={`Budgets\n${data.budgets.map(described).join('\n')}`}>
      {described(most)}
    </span>
  );
}

const shareOf = ({ used, limit }: Budget): number => (limit > 0 ? used / limit : 1);

/** `1.2K of 5K tokens today`. */
function described({ scope, kind, used, limit }: Budget): string {
  return [amountOf(kind, used), 'of', amountOf(kind, limit), units[kind], scopes[scope]].filter(Boolean).join(' ');
}

function amountOf(kind: Budget['kind'], value: number): string {
  if (kind === 'cost') return `$${value.toFixed(2)}`;
  return kind === 'wallTimeMs' ? shownDuration(value) : shownCount(value);
}
