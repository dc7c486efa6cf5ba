import { Repeat } from 'lucide-react';
import { messageBehind } from '../../app/branching.ts';
import { navigate, to } from '../../app/location.ts';
import type { Contribution } from '../../app/registry.ts';

const pattern = '/apps/:app/u/:user/s/:session/repeat/:event';

export const contributions: readonly Contribution[] = [
  { kind: 'page', pattern, title: 'Repeat', load: async () => (await import('./repeat-page.tsx')).RepeatPage },
  {
    kind: 'command',
    id: 'repeat',
    label: 'Repeat this message',
    icon: Repeat,
    place: 'event',
    applies: ({ workspace, event }) =>
      workspace !== undefined && event !== undefined && !!messageBehind(workspace, event),
    run({ workspace, event }) {
      const message = workspace && event && messageBehind(workspace, event);
      if (!message) return;
      const { appName: app, userId: user, sessionId: session } = workspace.key;
      navigate(to(pattern, { app, user, session, event: message.id }));
    },
  },
];
