import { createHash } from 'node:crypto';
import { outcomeOfFailure } from '../core/run-status.ts';
import type { RunKey } from '../core/runs.ts';
import type { QueuedRun } from '../runner/queue/run-queue.ts';
import { storableRequest } from '../runner/user-message.ts';
import type { Run } from '../schemas/run-record.ts';
import type { RunRequest } from '../schemas/run.ts';
import { type KeyedRequest, BackgroundRun } from './background-runs.ts';

/** The record of a run that has no stored events, or none yet. */
export function recordOf({ runId: id, appName, userId, sessionId }: RunKey, run: QueuedRun | BackgroundRun): Run {
  const { createdAtMs, startedAtMs } = run;
  const { endedAtMs, failure }: Partial<BackgroundRun> = run instanceof BackgroundRun ? run : {};
  const outcome = failure === undefined ? { status: 'done' as const } : outcomeOfFailure(failure);
  return {
    id,
    appName,
    userId,
    sessionId,
    status: startedAtMs === undefined ? 'queued' : 'running',
    ...(endedAtMs !== undefined && outcome),
    createdAt: createdAtMs / 1000,
    ...(startedAtMs !== undefined && { startedAt: startedAtMs / 1000 }),
    ...(endedAtMs !== undefined && { endedAt: endedAtMs / 1000 }),
  };
}

/** A request with its idempotency key and fingerprint. Credentials are left out: a hash would let others test guesses. */
export function keyedRequest(request: RunRequest, idempotencyKey: string): KeyedRequest {
  const { appName, userId, sessionId } = request;
  return {
    idempotencyKey,
    key: [appName, userId, sessionId, idempotencyKey].join('\n'),
    fingerprint: createHash('sha256')
      .update(JSON.stringify(storableRequest(request)))
      .digest('base64'),
  };
}
