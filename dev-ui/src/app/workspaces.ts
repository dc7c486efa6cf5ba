import type { SessionKey } from '../../../src/schemas/session.ts';
import { Workspace } from './workspace.ts';

const open = new Map<string, { readonly workspace: Workspace; users: number }>();
const nameOf = (key: SessionKey): string => [key.appName, key.userId, key.sessionId].map(encodeURIComponent).join('/');

/** The workspace of a session, read from the server when it is new. Give it back with `release`. */
export function acquire(key: SessionKey): Workspace {
  const known = open.get(nameOf(key));
  if (known) {
    known.users += 1;
    return known.workspace;
  }
  const workspace = new Workspace(key);
  open.set(nameOf(key), { workspace, users: 1 });
  void workspace.open(); // its failures show in `load`
  return workspace;
}

/** Closes the workspace when no view shows it and it has no active run. */
export function release(key: SessionKey): void {
  const known = open.get(nameOf(key));
  if (!known) return;
  known.users -= 1;
  const { workspace } = known;
  const drop = (): void => {
    if (workspace.run.status === 'running') return;
    stopWatching();
    if (known.users > 0 || open.get(nameOf(key)) !== known) return;
    open.delete(nameOf(key));
    workspace.close();
  };
  const stopWatching = workspace.subscribe(drop);
  drop();
}
