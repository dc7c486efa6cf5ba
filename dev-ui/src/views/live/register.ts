import { AudioLines } from 'lucide-react';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  { kind: 'slot', slot: 'composer', order: 10, load: async () => (await import('./live-button.tsx')).LiveButton },
  { kind: 'slot', slot: 'strip', order: 20, load: async () => (await import('./live-strip.tsx')).LiveStrip },
  {
    kind: 'command',
    id: 'live',
    label: 'Start live conversation',
    icon: AudioLines,
    place: 'session',
    applies: ({ workspace }) => workspace !== undefined && workspace.run.status !== 'running',
    async run({ workspace }) {
      const { startLive } = await import('./live-call.ts');
      if (workspace) await startLive(workspace);
    },
  },
];
