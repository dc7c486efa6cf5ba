import { setQuery } from '../../app/place.ts';
import type { Contribution } from '../../app/registry.ts';
import { changeSettings } from '../../app/settings.ts';
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
  {
    kind: 'command',
    id: 'show-artifacts',
    label: 'Show the artifacts',
    keys: 'g f',
    applies: ({ workspace }) => workspace !== undefined,
    run() {
      changeSettings({ rightOpen: true });
      setQuery({ t: 'artifacts', e: undefined });
    },
  },
];
