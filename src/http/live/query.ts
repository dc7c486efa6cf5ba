import { z } from 'zod';
import { lenient } from '../../schemas/lenient.ts';
import { nameFault } from '../../schemas/names.ts';
import { OnBusy, type RunConfig } from '../../schemas/run.ts';
import type { LiveRunRequest } from '../deps.ts';

/** Booleans as FastAPI parses them. */
const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', '1', 'yes', 'on', 't', 'y', 'false', '0', 'no', 'off', 'f', 'n']))
  .transform((word) => !/^(?:0|f|n|of)/.test(word));

const modalities = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((one) => one.split(',').map((name) => name.trim().toUpperCase())))
  .pipe(z.array(z.enum(['TEXT', 'AUDIO', 'VIDEO', 'IMAGE'])));

/** Query of `/run_live`, in camelCase or snake_case: the session, and settings of the model connection. */
export const LiveQuery = lenient({
  appName: z.string().optional(),
  userId: z.string().optional(),
  sessionId: z.string().optional(),
  modalities: modalities.optional(),
  proactiveAudio: flag.optional(),
  enableAffectiveDialog: flag.optional(),
  enableSessionResumption: flag.optional(),
  explicitVadSignal: flag.optional(),
  saveLiveBlob: flag.optional(),
  onBusy: OnBusy.optional(),
});
type LiveQuery = z.infer<typeof LiveQuery>;

/** Adds the default app to a query that names none, so that access to it is checked. */
export function liveQueryFor(defaultApp: string | undefined): z.ZodType {
  if (defaultApp === undefined) return LiveQuery;
  return LiveQuery.transform((query) => ({ ...query, appName: query.appName ?? defaultApp }));
}

/** The run request of a query, or the reason for a close frame if the query is invalid. */
export function readLiveQuery(query: unknown, defaultApp: string | undefined): LiveRunRequest | string {
  const parsed = LiveQuery.safeParse(query);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${String(issue?.path[0] ?? 'query')}: ${issue?.message ?? 'is not valid'}`;
  }
  const { appName = defaultApp, userId, sessionId, onBusy } = parsed.data;
  const names = { app_name: appName, user_id: userId, session_id: sessionId };
  for (const [parameter, name] of Object.entries(names)) {
    if (!name) return `${parameter} query parameter is required and cannot be empty`;
    const fault = nameFault(name);
    if (fault) return `${parameter} ${fault}`;
  }
  return {
    appName: names.app_name ?? '',
    userId: names.user_id ?? '',
    sessionId: names.session_id ?? '',
    onBusy,
    runConfig: runConfigOf(parsed.data),
  };
}

/** Only the given settings; the app sets the others. */
function runConfigOf(query: LiveQuery): RunConfig {
  const { proactiveAudio, enableAffectiveDialog, explicitVadSignal, saveLiveBlob } = query;
  return {
    ...(query.modalities && { responseModalities: query.modalities }),
    ...(proactiveAudio !== undefined && { proactivity: { proactiveAudio } }),
    ...(enableAffectiveDialog !== undefined && { enableAffectiveDialog }),
    ...(query.enableSessionResumption !== undefined && {
      sessionResumption: query.enableSessionResumption ? {} : false,
    }),
    ...(explicitVadSignal !== undefined && { explicitVadSignal }),
    ...(saveLiveBlob !== undefined && { saveLiveBlob }),
  };
}
