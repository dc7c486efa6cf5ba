import { GitFork } from 'lucide-react';
import { useLogVersion } from '../../app/current.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { metadataOf, sessionAddress } from '../../app/names.ts';
import type { Workspace } from '../../app/workspace.ts';

/** Says that a session is a fork and what it changed, with links to the original and to a comparison. */
export function ForkNote({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  const { key, log } = workspace;
  const { forkedFrom, change = 'fork' } = metadataOf(log);
  if (!forkedFrom) return null;
  const origin = sessionAddress(
    { ...key, sessionId: forkedFrom.sessionId },
    forkedFrom.eventId === undefined ? {} : { e: forkedFrom.eventId },
  );
  const names = { app: key.appName, user: key.userId, a: forkedFrom.sessionId, b: key.sessionId };
  return (
    <p className="fork-note secondary">
      <GitFork size={14} aria-hidden />
      <span className="grow truncate">Fork: {change}.</span>
      <Link to={origin}>Original</Link>
      <Link to={to('/apps/:app/u/:user/s/:a/compare/:b', names)}>Compare</Link>
    </p>
  );
}
