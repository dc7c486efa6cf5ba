import { sessionIn } from './names.ts';
import { getPlace, match } from './place.ts';
import { contributionsOf } from './registry.ts';
import { acquire } from './workspaces.ts';

/** Asks at once for everything the first page needs, instead of one thing after the other. */
export function preload(): void {
  const { path, query } = getPlace();
  const page = contributionsOf('page').find(({ pattern }) => match(pattern, path));
  const key = sessionIn(path);
  const loads: Promise<unknown>[] = page ? [page.load()] : [];
  if (key && page) {
    acquire(key); // for as long as the page is there: it is the one most often come back to
    const views = contributionsOf('centre');
    const view = views.find(({ id }) => id === query.get('view')) ?? views[0];
    if (view) loads.push(view.load());
  }
  for (const load of loads) load.catch(() => {}); // the page says so when it cannot be loaded
}
