import { Settings } from 'lucide-react';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  {
    kind: 'page',
    pattern: '/settings',
    title: 'Settings',
    load: async () => (await import('./settings-page.tsx')).SettingsPage,
    nav: { label: 'Settings', icon: Settings, order: 1000 },
  },
];
