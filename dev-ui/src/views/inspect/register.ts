import type { Event } from '../../../../src/schemas/event.ts';
import type { Contribution } from '../../app/registry.ts';

/** Whether a model produced the event. */
const isAnswer = ({ author, content }: Event): boolean =>
  author !== 'user' && !(content?.parts ?? []).some((part) => part.functionResponse);

export const contributions: readonly Contribution[] = [
  {
    kind: 'inspector',
    id: 'overview',
    label: 'Overview',
    order: 0,
    scope: 'event',
    load: async () => (await import('./overview.tsx')).Overview,
  },
  {
    kind: 'inspector',
    id: 'model',
    label: 'Model call',
    order: 10,
    scope: 'event',
    applies: isAnswer,
    load: async () => (await import('./model-call.tsx')).ModelCall,
  },
  {
    kind: 'inspector',
    id: 'raw',
    label: 'Raw',
    order: 90,
    scope: 'event',
    load: async () => (await import('./raw.tsx')).Raw,
  },
];
