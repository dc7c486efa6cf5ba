import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  { kind: 'centre', id: 'events', label: 'Events', order: 10, load: async () => (await import('./events.tsx')).Events },
];
