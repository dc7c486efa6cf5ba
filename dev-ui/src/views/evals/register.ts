import { ClipboardCheck } from 'lucide-react';
import { getLocation, navigate, to } from '../../app/location.ts';
import { callerMayUse } from '../../app/login/me.ts';
import { appIn } from '../../app/names.ts';
import type { Contribution } from '../../app/registry.ts';
import { useSettings } from '../../app/settings.ts';
import { askToSave } from './save-state.ts';

/** The evaluations of the app on the screen. */
function showEvaluations(): void {
  const app = appIn(getLocation().path) ?? useSettings.getState().lastApp;
  if (app !== undefined) navigate(to('/apps/:app/evals', { app }));
}

export const contributions: readonly Contribution[] = [
  {
    kind: 'page',
    pattern: '/apps/:app/evals',
    title: 'Evaluations',
    part: 'evaluation',
    load: async () => (await import('./sets-page.tsx')).SetsPage,
    nav: { label: 'Evaluations', icon: ClipboardCheck, order: 30 },
  },
  {
    kind: 'page',
    pattern: '/apps/:app/evals/:set',
    title: 'Evaluation set',
    load: async () => (await import('./set-page.tsx')).SetPage,
  },
  {
    kind: 'page',
    pattern: '/apps/:app/evals/:set/cases/:case',
    title: 'Evaluation case',
    load: async () => (await import('./case-page.tsx')).CasePage,
  },
  {
    kind: 'page',
    pattern: '/apps/:app/evals/:set/runs/:run',
    title: 'Evaluation run',
    load: async () => (await import('./result-page.tsx')).ResultPage,
  },
  {
    kind: 'page',
    pattern: '/apps/:app/evals/:set/runs/:before/vs/:after',
    title: 'Compare runs',
    load: async () => (await import('./compare-page.tsx')).ComparePage,
  },
  {
    kind: 'command',
    id: 'save-session-as-case',
    label: 'Save session as evaluation case',
    icon: ClipboardCheck,
    place: 'session',
    applies: ({ workspace }) => (workspace?.log.events.length ?? 0) > 0 && callerMayUse('evaluation'),
    run: ({ workspace }) => workspace && askToSave({ key: workspace.key }),
  },
  {
    kind: 'command',
    id: 'save-turn-as-case',
    label: 'Save turn as evaluation case',
    keys: 'c',
    icon: ClipboardCheck,
    place: 'event',
    applies: ({ workspace, event }) => workspace !== undefined && event !== undefined && callerMayUse('evaluation'),
    run: ({ workspace, event }) =>
      workspace && event && askToSave({ key: workspace.key, invocationId: event.invocationId }),
  },
  {
    kind: 'command',
    id: 'show-evaluations',
    label: 'Show evaluations',
    keys: 'g v',
    applies: () => callerMayUse('evaluation'),
    run: showEvaluations,
  },
  {
    kind: 'slot',
    slot: 'strip',
    order: 90,
    load: async () => (await import('./save-dialog.tsx')).SaveDialog,
  },
];
