import { setQuery } from '../../app/place.ts';
import type { Contribution } from '../../app/registry.ts';
import { changeSettings } from '../../app/settings.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'state',
    label: 'State',
    order: 30,
    scope: 'both',
    load: async () => (await import('./state.tsx')).StatePanel,
  },
  {
    kind: 'command',
    id: 'show-state',
    label: 'Show the state',
    keys: 's',
    applies: ({ workspace }) => workspace !== undefined,
    run() {
      changeSettings({ rightOpen: true });
      setQuery({ t: 'state' });
    },
  },
];
