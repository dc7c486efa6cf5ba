import { z } from 'zod';
import { isJsonObject } from '../../base/json.ts';
import type { RunRequest } from '../../schemas/run.ts';

/** Paths that name no app. */
const withoutApp = /^\/(?:users\/|app-info(?:\?|$))/;

/** Adds the default app to a path that names none. `runRequestFor` does the same for the body of a run. */
export const withDefaultApp = (url: string, app: string): string =>
  withoutApp.test(url) ? `/apps/${encodeURIComponent(app)}${url}` : url;

export function runRequestFor(app: string | undefined, schema: typeof RunRequest): z.ZodType<RunRequest> {
  if (app === undefined) return schema;
  return z.preprocess((body) => {
    if (!isJsonObject(body) || (body['appName'] ?? body['app_name'] ?? undefined) !== undefined) return body;
    return { ...body, appName: app };
  }, schema);
}
