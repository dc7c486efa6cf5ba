import { Ellipsis } from 'lucide-react';
import type { Session } from '../api/sessions.ts';
import { Menu } from '../parts/menu.tsx';
import { titleOf } from './names.ts';
import { askToRename, exportSession, removeSession, togglePin } from './session-actions.ts';
import { useSettings } from './settings.ts';

/** What can be done with a session of the list. */
export function SessionMenu({ session }: { readonly session: Session }) {
  const pinned = useSettings((state) => state.pinned.includes(session.id));
  const key = { appName: session.appName, userId: session.userId, sessionId: session.id };
  return (
    <Menu
      label={`More about ${titleOf(session)}`}
      className="icon-button more"
      button={<Ellipsis size={14} aria-hidden />}
      items={[
        { label: pinned ? 'Unpin' : 'Pin', run: () => togglePin(session.id) },
        { label: 'Rename …', run: () => askToRename(session) },
        { label: 'Export', run: () => void exportSession(key) },
        'line',
        { label: 'Delete', danger: true, run: () => removeSession(session) },
      ]}
    />
  );
}
