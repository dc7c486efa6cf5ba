import type { Contribution } from '../../app/registry.ts';
import { showTab } from '../../app/show-tab.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'memory',
    label: 'Memory',
    order: 50,
    scope: 'session',
    load: async () => (await import('./memory-panel.tsx')).MemoryPanel,
  },
  showTab({ tab: 'memory', label: 'Search the memory', keys: 'g m', ofSession: true }),
];
