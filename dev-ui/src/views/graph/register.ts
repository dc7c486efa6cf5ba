import type { Contribution } from '../../app/registry.ts';
import { showTab } from '../../app/show-tab.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'agent',
    label: 'Agents',
    order: 25,
    scope: 'both',
    load: async () => (await import('./agent-panel.tsx')).AgentPanel,
  },
  showTab({ tab: 'agent', label: 'Show agents', keys: 'g g' }),
];
