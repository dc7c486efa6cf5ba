import type { Contribution } from '../../app/registry.ts';
import { showTab } from '../../app/show-tab.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'findings',
    label: 'Findings',
    order: 60,
    scope: 'session',
    load: async () => (await import('./findings-panel.tsx')).FindingsPanel,
  },
  showTab({ tab: 'findings', label: 'Find loops and waste', keys: 'g l', ofSession: true }),
];
