import { useEffect, useState } from 'react';
import { useCurrent, useWorkspaceVersion } from '../../app/current.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { metadataOf } from '../../app/names.ts';
import { useReloadNews } from '../../app/reloads.ts';
import { changeSettings, useSettings } from '../../app/settings.ts';
import { markTab } from '../../app/tab-mark.ts';
import type { Workspace } from '../../app/workspace.ts';
import { acquire, release } from '../../app/workspaces.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { Centre } from './centre.tsx';
import { Inspector } from './inspector.tsx';
import './workspace.css';

/** How often an idle session is polled for events of other clients. */
const catchUpMs = 4_000;

type Params = Readonly<Record<string, string>>;

/** A session: the conversation in the centre, the inspector on the right. */
export function WorkspacePage({ params }: { readonly params: Params }) {
  const { app: appName = '', user: userId = '', session: sessionId = '' } = params;
  const [workspace, setWorkspace] = useState<Workspace>();
  useEffect(() => {
    const key = { appName, userId, sessionId };
    const acquired = acquire(key);
    setWorkspace(acquired);
    useCurrent.setState({ workspace: acquired });
    const catchUp = (): void => {
      if (document.visibilityState === 'visible') void acquired.catchUp();
    };
    window.addEventListener('focus', catchUp);
    const timer = setInterval(catchUp, catchUpMs);
    return () => {
      clearInterval(timer);
      window.removeEventListener('focus', catchUp);
      useCurrent.setState({ workspace: undefined });
      release(key);
    };
  }, [appName, userId, sessionId]);
  return workspace ? <Opened workspace={workspace} /> : <Loading label="Loading the session" />;
}

function Opened({ workspace }: { readonly workspace: Workspace }) {
  useWorkspaceVersion(workspace);
  const { status, error } = workspace.load;
  const { appName, userId, sessionId } = workspace.key;
  useEffect(() => {
    if (status !== 'ready') return;
    const { lastSessions } = useSettings.getState();
    const last = [userId, sessionId].map(encodeURIComponent).join('/');
    changeSettings({ lastApp: appName, lastSessions: { ...lastSessions, [appName]: last } });
  }, [status, appName, userId, sessionId]);
  useTab(workspace);
  useReloadNews(workspace);
  if (status === 'loading') return <Loading label="Loading the session" />;
  if (status === 'missing') {
    return (
      <div className="page">
        <div className="stack">
          <h1>Session not found</h1>
          <p className="secondary">
            The user “{userId}” of the app “{appName}” has no session <code>{sessionId}</code>. It may have been
            deleted, or the server was restarted with sessions in memory.
          </p>
          <p>
            <Link className="button primary" to={to('/apps/:app', { app: appName })}>
              New session
            </Link>
          </p>
        </div>
      </div>
    );
  }
  if (status === 'failed') {
    return (
      <div className="page">
        <Failure error={error} onRetry={() => void workspace.reload()} />
      </div>
    );
  }
  return (
    <div className="workspace">
      <Centre workspace={workspace} />
      <Inspector workspace={workspace} />
    </div>
  );
}

/** Shows title and status of the session in the browser tab. */
function useTab(workspace: Workspace): void {
  const { log, run } = workspace;
  const title = metadataOf(log).displayName ?? 'Session';
  const waits = log.pending.size > 0;
  useEffect(() => markTab(workspace, title), [workspace, title, run.status, waits]);
}
