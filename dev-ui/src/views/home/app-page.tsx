import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Content } from '../../../../src/schemas/content.ts';
import { listApps } from '../../api/apps.ts';
import { Composer } from '../../app/composer/composer.tsx';
import { RunOptionsButton, runOptions } from '../../app/composer/run-options.tsx';
import { changeSettings, useSettings } from '../../app/settings.ts';
import { startSession } from '../../app/start-session.ts';
import { Starters, useReadme } from '../../app/starters.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { JsonField } from '../../parts/schema-form.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import './home.css';

/** A new session: the description of the app, and the composer of the first message. */
export function AppPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const appName = params['app'] ?? '';
  const userId = useSettings((state) => state.userId);
  const [state, setState] = useState<unknown>({});
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
      await startSession({ appName, userId }, { message, options: runOptions(), ...(isObject(state) && { state }) });
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
        {apps.data && !app && <Failure error={new Error(`App not found: “${appName}”`)} />}
        {app?.error !== undefined && (
          <div className="notice error" role="alert">
            <p>
              <strong>This app could not be loaded.</strong>
            </p>
            <pre className="error-text">{app.error}</pre>
            <button type="button" className="button small" onClick={() => void apps.refetch()}>
              Reload
            </button>
          </div>
        )}
        {failure !== undefined && <Failure error={failure} />}
        {app && app.error === undefined && (
          <>
            <Readme app={appName} />
            <Starters
              app={appName}
              disabled={sending}
              onSay={(text) => void start({ role: 'user', parts: [{ text }] })}
            />
            <details className="initial-state">
              <summary>Initial state</summary>
              <p className="secondary">The state of the session before the first message, as a JSON object.</p>
              <JsonField label="Initial state" value={{}} rows={5} onChange={setState} />
              {state !== undefined && !isObject(state) && <p className="error-text">Not a JSON object.</p>}
            </details>
          </>
        )}
      </div>
      <div className="composer-place">
        <Composer
          autoFocus
          running={false}
          failure={failure}
          disabled={!app || app.error !== undefined || sending}
          placeholder={`Message ${appName}`}
          onSend={(message) => void start(message)}
          onStop={() => {}}
        >
          <RunOptionsButton />
        </Composer>
      </div>
    </div>
  );
}

/** The README of the app. */
function Readme({ app }: { app: string }) {
  const text = useReadme(app)?.text ?? '';
  return text.trim() === '' ? null : <Markdown text={text} />;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
