import { z } from 'zod';
import { isJsonObject } from '../base/json.ts';
import type { RunRequest } from '../schemas/run.ts';

/** Paths that say which user but not which app. */
const withoutApp = /^\/(?:users\/|app-info(?:\?|$))/;

/** The path of a request that names no app, with the default one in it; the body of a run gets it below. */
export const withDefaultApp = (url: string, app: string): string =>
  withoutApp.test(url) ? `/apps/${encodeURIComponent(app)}${url}` : url;

export function runRequestFor(app: string | undefined, schema: typeof RunRequest): z.ZodType<RunRequest> {
  if (app === undefined) return schema;
  return z.preprocess((body) => {
    if (!isJsonObject(body) || (body['appName'] ?? body['app_name'] ?? undefined) !== undefined) return body;
    return { ...body, appName: app };
  }, schema);
}
