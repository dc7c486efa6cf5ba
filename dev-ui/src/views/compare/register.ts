import { ArrowLeftRight } from 'lucide-react';
import { messageOf } from '../../api/server.ts';
import { listSessions } from '../../api/sessions.ts';
import { navigate, to } from '../../app/location.ts';
import { metadataOf } from '../../app/names.ts';
import type { Contribution } from '../../app/registry.ts';
import { toast } from '../../parts/toasts.tsx';

const pattern = '/apps/:app/u/:user/s/:a/compare/:b';

export const contributions: readonly Contribution[] = [
  {
    kind: 'page',
    pattern,
    title: 'Compare',
    load: async () => (await import('./compare-page.tsx')).ComparePage,
  },
  {
    kind: 'command',
    id: 'compare',
    label: 'Compare with another session',
    icon: ArrowLeftRight,
    place: 'session',
    applies: ({ workspace }) => workspace !== undefined,
    async run({ workspace }) {
      if (!workspace) return;
      const { appName, userId, sessionId } = workspace.key;
      try {
        const sessions = await listSessions(workspace.key);
        const origin = metadataOf(workspace.log).forkedFrom?.sessionId;
        const other = sessions.find(({ id }) => id === origin) ?? sessions.find(({ id }) => id !== sessionId);
        if (!other) toast('There is no other session to compare with');
        else navigate(to(pattern, { app: appName, user: userId, a: other.id, b: sessionId }));
      } catch (error) {
        toast(messageOf(error), { tone: 'error' });
      }
    },
  },
];
