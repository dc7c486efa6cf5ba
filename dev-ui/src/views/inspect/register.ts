import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'raw',
    label: 'Raw',
    order: 90,
    scope: 'event',
    load: async () => (await import('./raw.tsx')).Raw,
  },
];
