import { AppError } from '../base/errors.ts';
import type { RunKey } from '../core/runs.ts';
import type { Run } from '../schemas/run-record.ts';
import type { SessionKey } from '../schemas/session.ts';
import type { KeyedRequest, BackgroundRun, BackgroundRuns } from './background-runs.ts';
import type { SharedRuns } from './cluster/shared-runs.ts';

// What a request with a known key gets. When two requests count as equal is decided by `keyedRequest` in run-records.ts, and
// how long a key is known by `keyLifetimeMs` in core/run-store.ts.

interface Known {
  readonly background: BackgroundRuns;
  readonly sharedRuns: SharedRuns | undefined;
  readonly get: (key: RunKey) => Promise<Run>;
}

/** The run that an earlier request with the same idempotency key started. Throws `idempotency_mismatch`, or the error of that request. */
export async function earlierRun(
  session: SessionKey,
  { key, idempotencyKey, fingerprint }: KeyedRequest,
  { background, sharedRuns, get }: Known,
): Promise<Run | undefined> {
  const here = background.findByIdempotencyKey(key);
  const earlier = here?.keyed ?? (await sharedRuns?.findByIdempotencyKey(session, idempotencyKey));
  if (!earlier) return undefined;
  if (earlier.fingerprint !== fingerprint) {
    throw new AppError('idempotency_mismatch', 'This Idempotency-Key was sent before, with another request');
  }
  if ('run' in earlier) return earlier.run;
  try {
    await here?.accepted;
    return here && (await get(here.key));
  } catch (error) {
    const kept = isDuplicate(error) ? await sharedRuns?.findByIdempotencyKey(session, idempotencyKey) : undefined;
    if (kept) return kept.run;
    throw error;
  }
}

/** Whether another replica started the same request at the same time. */
export const isDuplicate = (error: unknown): boolean => error instanceof AppError && error.code === 'run_exists';

/** A run that failed in this process and still continues: on another replica, or when the store is reachable again. */
export async function persistedRun(
  error: unknown,
  { key, persisted }: BackgroundRun,
  sharedRuns: SharedRuns | undefined,
): Promise<Run | undefined> {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'session_changed') return sharedRuns?.find(key);
  return error.code === 'unavailable' ? persisted : undefined;
}
