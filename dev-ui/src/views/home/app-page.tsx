import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Content } from '../../../../src/schemas/content.ts';
import { listApps } from '../../api/apps.ts';
import { Composer } from '../../app/composer/composer.tsx';
import { changeSettings, useSettings } from '../../app/settings.ts';
import { startSession } from '../../app/start-session.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import './home.css';

/** A session that has not begun: what the app is, and the first message. */
export function AppPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const appName = params['app'] ?? '';
  const { userId, streaming } = useSettings();
  const [failure, setFailure] = useState<unknown>();
  const [sending, setSending] = useState(false);
  const apps = useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => listApps(signal) });
  const app = apps.data?.find(({ name }) => name === appName);
  useEffect(() => changeSettings({ lastApp: appName }), [appName]);
  if (apps.isPending) return <Loading label="Loading the app" />;
  const start = async (message: Content): Promise<void> => {
    setFailure(undefined);
    setSending(true);
    try {
      await startSession({ appName, userId }, { message, options: { streaming } });
    } catch (error) {
      setFailure(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <div className="start">
      <div className="start-body stack">
        <h1>{appName}</h1>
        {app && app.description !== '' && <p className="answer">{app.description}</p>}
        {apps.isError && <Failure error={apps.error} onRetry={() => void apps.refetch()} />}
        {apps.data && !app && <Failure error={new Error(`There is no app called “${appName}”`)} />}
        {app?.error !== undefined && (
          <div className="notice error" role="alert">
            <p>
              <strong>This app could not be loaded.</strong>
            </p>
            <pre className="error-text">{app.error}</pre>
            <button type="button" className="button small" onClick={() => void apps.refetch()}>
              Load it again
            </button>
          </div>
        )}
        {failure !== undefined && <Failure error={failure} />}
      </div>
      <div className="composer-place">
        <Composer
          autoFocus
          running={false}
          disabled={!app || app.error !== undefined || sending}
          placeholder={`Message ${appName}`}
          onSend={(message) => void start(message)}
          onStop={() => {}}
        />
      </div>
    </div>
  );
}
