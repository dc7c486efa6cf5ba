import { create } from 'zustand';
import { logOut, type Me, readMe } from '../../api/login.ts';
import { ApiError, messageOf, onUnauthenticated } from '../../api/server.ts';
import { toast } from '../../parts/toasts.tsx';
import { hrefOf } from '../location.ts';
import { changeSettings, settingsDefaults, useSettings } from '../settings.ts';

/** The caller as the server knows it; `undefined` on a server that does not know its callers. */
export const useMe = create(() => ({ me: undefined as Me | undefined }));

/** Whether the caller may see sessions of other users. */
export const seesAllUsers = ({ actsForUsers, roles }: Me): boolean => actsForUsers || roles.includes('operator');

/** The role that each part of the API for development needs; the others are for all users. */
const roleForPart: Readonly<Record<string, Me['roles'][number]>> = {
  'app-details': 'developer',
  tools: 'developer',
  evaluation: 'developer',
  builder: 'developer',
  import: 'developer',
  'app-state': 'operator',
};

/** Whether the caller has the role for a part of the API. Without authentication everyone has. */
export function mayUse(part: string, me: Me | undefined): boolean {
  const role = roleForPart[part];
  return me === undefined || role === undefined || me.roles.includes(role);
}

/** The same for the caller on the screen, outside of components. */
export const callerMayUse = (part: string): boolean => mayUse(part, useMe.getState().me);

/** Finds out who the caller is. Throws an `ApiError` with status 401 when the caller has to log in. */
export async function identify(): Promise<void> {
  const me = await readMe();
  adoptUser(me);
  useMe.setState({ me });
  onUnauthenticated(() => void reloadWhenLoggedOut());
}

/** What this browser remembers of one user is not for the next one. */
function adoptUser({ id, userId, ...rights }: Me): void {
  const before = useSettings.getState();
  const shown = userId ?? before.userId;
  if (before.callerId !== id) {
    const { lastSessions, prompts, pinned, stateDelta } = settingsDefaults;
    changeSettings({ callerId: id, userId: shown, users: [shown], lastSessions, prompts, pinned, stateDelta });
  } else if (!seesAllUsers({ id, ...rights })) {
    changeSettings({ userId: shown, users: [shown] });
  }
}

let asking: Promise<void> | undefined;

/** After a request that the server did not accept. Loading the page again leads to the login, and from there back here. */
function reloadWhenLoggedOut(): Promise<void> {
  asking ??= readMe()
    .then(() => {}) // the caller is known: that request needs another credential
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) window.location.reload();
    })
    .finally(() => (asking = undefined));
  return asking;
}

export async function leave(): Promise<void> {
  try {
    await logOut();
    window.location.assign(hrefOf('/'));
  } catch (error) {
    toast(`You are still logged in: ${messageOf(error)}`, { tone: 'error' });
  }
}
