import { Wrench } from 'lucide-react';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'page',
    pattern: '/apps/:app/tools',
    title: 'Tools',
    part: 'app-details',
    load: async () => (await import('./tools-page.tsx')).ToolsPage,
    nav: { label: 'Tools', icon: Wrench, order: 20 },
  },
];
