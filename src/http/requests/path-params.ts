import { z } from 'zod';
import { ArtifactName, Name } from '../../schemas/names.ts';

export const AppParams = z.object({ appName: Name });
export const UserParams = AppParams.extend({ userId: Name });
export const SessionParams = UserParams.extend({ sessionId: Name });
export const ArtifactParams = SessionParams.extend({ artifactName: ArtifactName });
export const EventParams = SessionParams.extend({ eventId: Name });

const truths = new Map([
  ...['true', '1', 'yes', 'on', ''].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** A switch in a query: `true`, `1`, `yes`, `on` and their opposites, in any case; the bare name means true. */
export const QueryFlag = z
  .string()
  .transform((text, ctx) => {
    const value = truths.get(text.toLowerCase());
    if (value !== undefined) return value;
    ctx.addIssue({ code: 'custom', message: 'is neither true nor false' });
    return z.NEVER;
  })
  .meta({ type: 'boolean' });

/** A whole number from 0 in a path or query. */
export const QueryCount = z
  .string()
  .regex(/^\d{1,15}$/, 'is not a whole number')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 });

/** A whole number from 1. */
export const QuerySize = z
  .string()
  .regex(/^0*[1-9]\d{0,14}$/, 'is not a whole number above 0')
  .transform(Number)
  .meta({ type: 'integer', minimum: 1 });

/** A number of seconds in a query. */
export const QuerySeconds = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,9})?$/, 'is not a number of seconds')
  .transform(Number)
  .meta({ type: 'number' });

/** A version number, or `latest` (read as `undefined`). */
export const Version = z
  .union([z.literal('latest').transform(() => undefined), QueryCount], 'is neither a version number nor "latest"')
  .meta({ type: 'string' });
