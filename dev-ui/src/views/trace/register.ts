import { ChartNoAxesGantt } from 'lucide-react';
import { setQuery } from '../../app/location.ts';
import type { Contribution } from '../../app/registry.ts';

export const contributions: readonly Contribution[] = [
  { kind: 'centre', id: 'trace', label: 'Trace', order: 30, load: async () => (await import('./trace.tsx')).Trace },
  {
    kind: 'page',
    pattern: '/traces',
    title: 'Traces',
    part: 'traces',
    load: async () => (await import('./trace-list.tsx')).TraceList,
    nav: { label: 'Traces', icon: ChartNoAxesGantt, order: 40 },
  },
  {
    kind: 'page',
    pattern: '/traces/:id',
    title: 'Trace',
    load: async () => (await import('./trace-page.tsx')).TracePage,
  },
  {
    kind: 'command',
    id: 'event-in-trace',
    label: 'Show in the trace',
    icon: ChartNoAxesGantt,
    place: 'event',
    applies: ({ event }) => event !== undefined && event.author !== 'user',
    run: ({ event }) => setQuery({ view: 'trace', e: event?.id, span: undefined }),
  },
];
