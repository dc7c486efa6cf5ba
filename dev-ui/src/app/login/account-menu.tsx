import { CircleUser } from 'lucide-react';
import { useState } from 'react';
import { createPortal } from 'react-dom';
import type { Me } from '../../api/login.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Menu } from '../../parts/menu.tsx';
import { leave, seesAllUsers } from './me.ts';
import './login.css';

/** Who is logged in, with the way out. The name is left out where the switch between users is beside it. */
export function AccountMenu({ me }: { readonly me: Me }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = me.userId ?? me.id;
  return (
    <>
      <Menu
        label={`Account: ${name}`}
        className="icon-button user-button"
        button={
          <>
            <CircleUser size={14} aria-hidden />
            {!seesAllUsers(me) && <span className="truncate">{name}</span>}
          </>
        }
        items={[
          { label: 'Who am I', run: () => setIsOpen(true) },
          ...(me.loggedIn ? (['line', { label: 'Log out', run: () => void leave() }] as const) : []),
        ]}
      />
      {isOpen && createPortal(<Account me={me} onClose={() => setIsOpen(false)} />, document.body)}
    </>
  );
}

function Account({ me, onClose }: { readonly me: Me; readonly onClose: () => void }) {
  const { id, userId, actsForUsers, roles, apps, expiresAt, loggedIn } = me;
  return (
    <Dialog title="Who am I" onClose={onClose}>
      <dl className="account">
        <dt>User</dt>
        <dd>{userId ?? 'none of its own'}</dd>
        <dt>Credential</dt>
        <dd className="mono">{id}</dd>
        <dt>Roles</dt>
        <dd className="row wrap">
          {roles.map((role) => (
            <span key={role} className="badge">
              {role}
            </span>
          ))}
        </dd>
        {actsForUsers && (
          <>
            <dt>Acts for</dt>
            <dd>any user</dd>
          </>
        )}
        <dt>Apps</dt>
        <dd>{apps?.join(', ') ?? 'all'}</dd>
        {expiresAt !== undefined && (
          <>
            <dt>{loggedIn ? 'Logged in until' : 'Valid until'}</dt>
            <dd>{new Date(expiresAt).toLocaleString()}</dd>
          </>
        )}
      </dl>
    </Dialog>
  );
}
