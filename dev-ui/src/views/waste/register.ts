import { setQuery } from '../../app/place.ts';
import type { Contribution } from '../../app/registry.ts';
import { changeSettings } from '../../app/settings.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'findings',
    label: 'Findings',
    order: 60,
    scope: 'session',
    load: async () => (await import('./findings-panel.tsx')).FindingsPanel,
  },
  {
    kind: 'command',
    id: 'show-findings',
    label: 'Find loops and waste',
    keys: 'g l',
    applies: ({ workspace }) => workspace !== undefined,
    run() {
      changeSettings({ rightOpen: true });
      setQuery({ t: 'findings', e: undefined });
    },
  },
];
