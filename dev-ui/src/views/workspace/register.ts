import { sessionPattern } from '../../app/names.ts';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'page',
    pattern: sessionPattern,
    title: 'Session',
    load: async () => (await import('./workspace-page.tsx')).WorkspacePage,
  },
];
