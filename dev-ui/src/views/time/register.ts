import { History } from 'lucide-react';
import { getLocation, setQuery } from '../../app/location.ts';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  { kind: 'slot', slot: 'strip', order: 10, load: async () => (await import('./time-strip.tsx')).TimeStrip },
  {
    kind: 'command',
    id: 'time-slider',
    label: 'Time slider',
    keys: 'h',
    icon: History,
    place: 'session',
    applies: ({ workspace }) => workspace !== undefined,
    run: () => setQuery({ time: getLocation().query.has('time') ? undefined : '1' }, { replace: true }),
  },
];
