import { randomBytes } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { RunKind, StoredRun } from '../../core/run-store.ts';
import { RunStatus } from '../../schemas/run-record.ts';
import type { SessionKey } from '../../schemas/session.ts';

// The columns of `agent_runs` keep names older than those of the code: `home` = the owner (a replica), `front` = `Rank`,
// `takes_back` = `rollbackOf`, `attempts` = takeovers, and the kind `hold` = `exclusive`.

/** A run as selected in both databases. Times are in seconds. */
export interface RunRow {
  readonly rowId: string;
  readonly sessionNumber: number;
  readonly runId: string;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly state: string;
  readonly error: string | null;
  readonly ownerId: string | null;
  readonly fingerprint: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export function storedRun(row: RunRow): StoredRun {
  const { rowId, sessionNumber, runId, appName, userId, sessionId, createdAt, startedAt, endedAt } = row;
  const error = row.error === null ? undefined : (JSON.parse(row.error) as { code: string; message: string });
  return {
    ref: { session: sessionNumber, id: rowId },
    run: {
      id: runId,
      appName,
      userId,
      sessionId,
      status: RunStatus.parse(row.state),
      createdAt,
      ...(startedAt !== null && { startedAt }),
      ...(endedAt !== null && { endedAt }),
      ...(error && { error }),
    },
    ownerId: row.ownerId ?? undefined,
    fingerprint: row.fingerprint ?? undefined,
  };
}

/** The condition for runs that have ended and do not wait for the user. */
export const isEnded = `state in ('done', 'failed', 'cancelled', 'interrupted')`;

/** How many runs one transaction deletes. */
export const forgottenAtOnce = 500;

/** The column `kind` calls an exclusive operation `hold`. */
export const kindColumn = (kind: RunKind): string => (kind === 'exclusive' ? 'hold' : kind);
export const kindOf = (column: string): RunKind =>
  column === 'hold' ? 'exclusive' : column === 'live' ? 'live' : 'run';

/** The key of a run in the tables. */
export const rowIdOf = (sessionNumber: number, runId: string): string => `${sessionNumber}/${runId}`;

/** The error for a run that the queue of a session rejects. */
export function refusal({ sessionId }: SessionKey, maxOpen: number, isThere: boolean): AppError {
  if (!isThere) return new AppError('session_not_found', `Session not found: ${sessionId}`);
  if (maxOpen === 0) {
    return new AppError('session_busy', `Session "${sessionId}" has a run in progress`, { retryAfter: 1 });
  }
  const message = `${maxOpen} runs are already waiting for session "${sessionId}"`;
  return new AppError('queue_full', message, { retryAfter: 1 });
}

/** The signing key of servers that share a database: 32 random bytes as text. */
export const newSecret = (): string => randomBytes(32).toString('base64url');
