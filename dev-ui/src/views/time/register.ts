import { History } from 'lucide-react';
import { getPlace, setQuery } from '../../app/place.ts';
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
    run: () => setQuery({ time: getPlace().query.has('time') ? undefined : '1' }, { replace: true }),
  },
];
