import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Faulty } from '../parts/faulty.tsx';
import { Loading } from '../parts/states.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { LiveRegion } from './announce.tsx';
import { Keys } from './keys.tsx';
import { match, navigate, to, useLocation } from './location.ts';
import { Overlays } from './overlays.tsx';
import { queries } from './queries.ts';
import { componentOf, contributionsOf } from './registry.ts';
import { Shell } from './shell.tsx';

const pages = contributionsOf('page');

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Shell>
        <Page />
      </Shell>
      <Keys />
      <Overlays />
      <LiveRegion />
      <Toasts />
    </QueryClientProvider>
  );
}

function Page() {
  const { path, query } = useLocation();
  const old = addressOfAdkLink(path, query);
  useEffect(() => {
    if (old !== undefined) navigate(old, { replace: true });
  }, [old]);
  if (old !== undefined) return <Loading label="Opening" />;
  for (const page of pages) {
    const params = match(page.pattern, path);
    if (!params) continue;
    const Component = componentOf(page);
    return (
      <Faulty key={path}>
        <Title text={page.title} />
        <Component params={params} />
      </Faulty>
    );
  }
  return (
    <div className="page">
      <div className="stack">
        <h1>Page not found</h1>
        <p className="secondary">
          There is no page at <code>{path}</code>.
        </p>
      </div>
    </div>
  );
}

/** Where ADK's links lead: `?app=&userId=&session=`. */
function addressOfAdkLink(path: string, query: URLSearchParams): string | undefined {
  const app = query.get('app');
  if (path !== '/' || app === null || app === '') return undefined;
  const user = query.get('userId') ?? 'user';
  const session = query.get('session') ?? query.get('sessionId');
  if (session === null || session === '') return to('/apps/:app', { app });
  return to('/apps/:app/u/:user/s/:session', { app, user, session });
}

function Title({ text }: { readonly text: string }) {
  useEffect(() => {
    document.title = text === '' ? 'agent-server' : `${text} – agent-server`;
  }, [text]);
  return null;
}
