import { getLocation, match } from './location.ts';
import { sessionIn } from './names.ts';
import { contributionsOf } from './registry.ts';
import { acquire } from './workspaces.ts';

/** Requests all data of the first page at once instead of one after the other. */
export function preload(): void {
  const { path, query } = getLocation();
  const page = contributionsOf('page').find(({ pattern }) => match(pattern, path));
  const key = sessionIn(path);
  const loads: Promise<unknown>[] = page ? [page.load()] : [];
  if (key && page) {
    acquire(key); // kept until the page closes: users return to this session most often
    const views = contributionsOf('centre');
    const view = views.find(({ id }) => id === query.get('view')) ?? views[0];
    if (view) loads.push(view.load());
  }
  for (const load of loads) load.catch(() => {}); // the page shows the failure
}
