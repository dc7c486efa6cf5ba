import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { listApps } from '../../api/apps.ts';
import { Link } from '../../app/link.tsx';
import { navigate, to } from '../../app/location.ts';
import { useSettings } from '../../app/settings.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import './home.css';

/** The last session of the last app; the apps, when there is no last one. */
export function Home() {
  const { lastApp, lastSessions } = useSettings();
  const apps = useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => listApps(signal) });
  const last = apps.data?.find(({ name, error }) => name === lastApp && error === undefined)?.name;
  useEffect(() => {
    if (last === undefined) return;
    const [user, session] = (lastSessions[last] ?? '').split('/').map(decodeURIComponent);
    const address =
      user && session
        ? to('/apps/:app/u/:user/s/:session', { app: last, user, session })
        : to('/apps/:app', { app: last });
    navigate(address, { replace: true });
  }, [last, lastSessions]);
  if (apps.isPending || last !== undefined) return <Loading label="Loading apps" />;
  return <Apps />;
}

/** Every app with its description, or with its load error. */
export function Apps() {
  const apps = useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => listApps(signal) });
  return (
    <div className="page">
      <div className="stack">
        <h1>Apps</h1>
        {apps.isError && <Failure error={apps.error} onRetry={() => void apps.refetch()} />}
        {apps.data?.length === 0 && (
          <Empty title="No apps found">
            Put a folder with an <code>agent.ts</code> or a <code>root_agent.yaml</code> into the agents folder: the app
            then appears here.
          </Empty>
        )}
        <ul className="app-cards">
          {apps.data?.map(({ name, description, error, language, rootAgentName }) => (
            <li key={name} className={`card app-card${error === undefined ? '' : ' broken'}`}>
              <h2>
                <Link to={to('/apps/:app', { app: name })}>{name}</Link>
              </h2>
              {error === undefined ? (
                <>
                  <p className="secondary">{description === '' ? 'No description.' : description}</p>
                  <p className="meta">
                    {rootAgentName} · {language}
                  </p>
                </>
              ) : (
                <pre className="error-text">{error}</pre>
              )}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
