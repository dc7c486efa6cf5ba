import { setTimeout as pause } from 'node:timers/promises';
import type { ArtifactService, MemoryService, SessionService } from '../core/services.ts';
import type { SessionKey } from '../schemas/session.ts';

/** What is kept, and for how long. An absent limit is none. */
export interface RetentionLimits {
  /** Milliseconds since a session was last written to. */
  readonly sessionTtlMs?: number | undefined;
  /** Sessions of all apps together; those that were not written to for longest go first. */
  readonly maxSessions?: number | undefined;
}

/** A session store that knows which of its sessions are beyond limits. */
export interface Archive {
  /** All sessions, evaluation sessions included, in the order they were created. */
  allSessions(): AsyncIterable<SessionKey>;
  /** At most `limit` sessions beyond the limits that no run is using. */
  outdatedSessions(limits: RetentionLimits, limit: number): Promise<SessionKey[]>;
}

export const isArchive = (sessions: SessionService): sessions is SessionService & Archive =>
  'outdatedSessions' in sessions && 'allSessions' in sessions;

export interface Collected {
  readonly sessions: readonly SessionKey[];
}

interface Stores {
  readonly sessions: SessionService;
  readonly artifacts?: ArtifactService;
  readonly memories?: MemoryService;
}

const deletedAtOnce = 100;

/**
 * Deletes what is beyond the limits: sessions with their artifacts and memories. `isTrial` deletes nothing and tells
 * what it would delete, up to a thousand.
 */
export async function collectGarbage(
  { sessions, artifacts, memories }: Stores,
  limits: RetentionLimits,
  { signal, isTrial = false }: { signal: AbortSignal; isTrial?: boolean },
): Promise<Collected> {
  const collected: SessionKey[] = [];
  if (!isTrial) await artifacts?.collectGarbage?.();
  if (!isArchive(sessions) || (limits.sessionTtlMs === undefined && limits.maxSessions === undefined)) {
    return { sessions: collected };
  }
  if (isTrial) return { sessions: await sessions.outdatedSessions(limits, 1000) };
  for (;;) {
    const keys = await sessions.outdatedSessions(limits, deletedAtOnce);
    for (const key of keys) {
      signal.throwIfAborted();
      // The session last: should we fail before, it is found again.
      await artifacts?.deleteSessionArtifacts(key);
      await memories?.deleteSessionMemory(key);
      await sessions.deleteSession(key);
    }
    collected.push(...keys);
    if (keys.length < deletedAtOnce) return { sessions: collected };
  }
}

/** Collects now and then until the signal aborts. `onFailure` is told of what goes wrong; the next time may go better. */
export async function keepCollecting(
  stores: Stores,
  limits: RetentionLimits,
  { everyMs, signal, onFailure }: { everyMs: number; signal: AbortSignal; onFailure: (error: unknown) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await pause(everyMs, undefined, { signal, ref: false });
      await collectGarbage(stores, limits, { signal });
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
  }
}
