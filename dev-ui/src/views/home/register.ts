import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  { kind: 'page', pattern: '/', title: '', load: async () => (await import('./home.tsx')).Home },
  { kind: 'page', pattern: '/apps', title: 'Apps', load: async () => (await import('./home.tsx')).Apps },
  {
    kind: 'page',
    pattern: '/apps/:app',
    title: 'New session',
    load: async () => (await import('./app-page.tsx')).AppPage,
  },
];
