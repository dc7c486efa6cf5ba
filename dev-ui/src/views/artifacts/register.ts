import type { Contribution } from '../../app/registry.ts';
import { showTab } from '../../app/show-tab.ts';
import { savedIn } from './saved-in.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'artifacts',
    label: 'Artifacts',
    order: 40,
    scope: 'both',
    applies: (event) => Object.keys(event.actions.artifactDelta).length > 0,
    load: async () => (await import('./artifacts-panel.tsx')).ArtifactsPanel,
  },
  {
    kind: 'slot',
    slot: 'row',
    order: 10,
    applies: (row) => savedIn(row).length > 0,
    load: async () => (await import('./thumbnails.tsx')).Thumbnails,
  },
  showTab({ tab: 'artifacts', label: 'Show artifacts', keys: 'g f', ofSession: true }),
];
