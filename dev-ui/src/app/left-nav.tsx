import { useQuery } from '@tanstack/react-query';
import { CircleAlert, Plus } from 'lucide-react';
import { type AppSummary, listApps } from '../api/apps.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { Link } from './link.tsx';
import { match, to, useLocation } from './location.ts';
import { appIn } from './names.ts';
import { contributionsOf, type PageSpec } from './registry.ts';
import { useServedParts } from './served.ts';
import { SessionList } from './session-list.tsx';
import { useSettings } from './settings.ts';

const pages = contributionsOf('page')
  .filter((page) => page.nav)
  .toSorted((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0));

/** Apps, the sessions of the current one, and the other pages. */
export function LeftNav() {
  const { path } = useLocation();
  const lastApp = useSettings((state) => state.lastApp);
  const app = appIn(path) ?? lastApp;
  const apps = useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => listApps(signal), refetchInterval: 15_000 });
  const parts = useServedParts() ?? 'unknown';
  const isServed = ({ part }: PageSpec): boolean => part === undefined || parts === 'unknown' || parts.includes(part);
  return (
    <div className="nav">
      <section className="nav-section">
        <h2 className="nav-title">Apps</h2>
        {apps.isPending && <Loading label="Loading apps" />}
        {apps.isError && <Failure error={apps.error} onRetry={() => void apps.refetch()} />}
        <ul>
          {apps.data?.map((one) => (
            <AppEntry key={one.name} app={one} current={one.name === app} />
          ))}
        </ul>
      </section>
      {app !== undefined && apps.data?.some(({ name, error }) => name === app && error === undefined) && (
        <SessionList app={app} />
      )}
      <ul className="nav-section nav-pages">
        {pages.filter(isServed).map((page) => (
          <PageEntry key={page.pattern} page={page} app={app} path={path} />
        ))}
      </ul>
    </div>
  );
}

function AppEntry({ app: { name, description, error }, current }: { app: AppSummary; current: boolean }) {
  const note = error ?? description;
  return (
    <li>
      <div className="nav-entry" data-current={current}>
        <Link
          to={to('/apps/:app', { app: name })}
          className="nav-link"
          title={note === '' ? name : `${name}: ${note}`}
          aria-current={current ? 'true' : undefined}
        >
          {error === undefined ? (
            <span className="dot ok" aria-hidden />
          ) : (
            <CircleAlert size={14} className="error-text" aria-label="failed to load" />
          )}
          <span className="truncate">{name}</span>
        </Link>
        {error === undefined && (
          <Link to={to('/apps/:app', { app: name })} className="icon-button" aria-label={`New session with ${name}`}>
            <Plus size={14} aria-hidden />
          </Link>
        )}
      </div>
    </li>
  );
}

function PageEntry({ page, app, path }: { page: PageSpec; app: string | undefined; path: string }) {
  const needsApp = page.pattern.includes(':app');
  if (!page.nav || (needsApp && app === undefined)) return null;
  const { icon: Icon, label } = page.nav;
  const current = match(page.pattern, path) !== undefined;
  return (
    <li>
      <Link
        to={to(page.pattern, { app: app ?? '' })}
        className="nav-link nav-entry"
        data-current={current}
        aria-current={current ? 'page' : undefined}
      >
        <Icon size={14} aria-hidden />
        {label}
      </Link>
    </li>
  );
}
