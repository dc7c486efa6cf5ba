import { FileJson } from 'lucide-react';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'page',
    pattern: '/view',
    title: 'View a file',
    load: async () => (await import('./view-file.tsx')).ViewFile,
    nav: { label: 'View a file', icon: FileJson, order: 900 },
  },
];
