import { setQuery } from '../../app/place.ts';
import type { Contribution } from '../../app/registry.ts';
import { changeSettings } from '../../app/settings.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'agent',
    label: 'Agents',
    order: 25,
    scope: 'both',
    load: async () => (await import('./agent-panel.tsx')).AgentPanel,
  },
  {
    kind: 'command',
    id: 'show-agents',
    label: 'Show the agents',
    keys: 'g a',
    applies: ({ workspace }) => workspace !== undefined,
    run() {
      changeSettings({ rightOpen: true });
      setQuery({ t: 'agent' });
    },
  },
];
