import type { Contribution } from '../../app/registry.ts';
import { showTab } from '../../app/show-tab.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'state',
    label: 'State',
    order: 30,
    scope: 'both',
    load: async () => (await import('./state.tsx')).StatePanel,
  },
  showTab({ tab: 'state', label: 'Show state', keys: 's' }),
];
