import { Ellipsis } from 'lucide-react';
import type { SessionOwner } from '../api/sessions.ts';
import type { SessionSummary } from '../api/summaries.ts';
import { Menu } from '../parts/menu.tsx';
import { shownTitle } from './names.ts';
import { askToRename, exportSession, removeSession, togglePin } from './session-actions.ts';
import { useSettings } from './settings.ts';

interface SessionMenuProps {
  readonly session: SessionSummary;
  readonly owner: SessionOwner;
}

/** The menu of a session in the list. */
export function SessionMenu({ session, owner }: SessionMenuProps) {
  const pinned = useSettings((state) => state.pinned.includes(session.id));
  const key = { ...owner, sessionId: session.id };
  const title = shownTitle(session);
  return (
    <Menu
      label={`Actions for ${title}`}
      className="icon-button more"
      button={<Ellipsis size={14} aria-hidden />}
      items={[
        { label: pinned ? 'Unpin' : 'Pin', run: () => togglePin(session.id) },
        { label: 'Rename …', run: () => askToRename(key, title) },
        { label: 'Export', run: () => void exportSession(key) },
        'line',
        { label: 'Delete', danger: true, run: () => removeSession(key, title) },
      ]}
    />
  );
}
