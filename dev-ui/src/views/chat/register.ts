import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  { kind: 'centre', id: 'chat', label: 'Chat', order: 0, load: async () => (await import('./chat.tsx')).Chat },
];
