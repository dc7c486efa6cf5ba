import { setTimeout as pause } from 'node:timers/promises';
import type { RunStore } from '../core/run-store.ts';
import type { ArtifactService, CollectOptions, MemoryService, SessionService } from '../core/services.ts';
import type { SessionKey } from '../schemas/session.ts';

/** What is kept, and for how long. An absent limit is none. */
export interface RetentionLimits {
  /** Milliseconds since a session was last written to. */
  readonly sessionTtlMs?: number | undefined;
  /** Sessions of all apps together; those that were not written to for longest go first. */
  readonly maxSessions?: number | undefined;
  /** Milliseconds since a version of an artifact was saved; the newest one stays. */
  readonly artifactVersionTtlMs?: number | undefined;
  /** Versions of each artifact, the newest ones. */
  readonly maxArtifactVersions?: number | undefined;
  /** Milliseconds since a run ended. */
  readonly runTtlMs?: number | undefined;
}

/** A session store that knows which of its sessions are beyond limits. */
export interface Archive {
  /** All sessions, evaluation sessions included, in the order they were created. */
  allSessions(): AsyncIterable<SessionKey>;
  /**
   * At most `limit` sessions beyond the limits that no run is using. Throws `ConfigurationException` when any session has a
   * time that was misread (`requireCredible`).
   */
  outdatedSessions(limits: RetentionLimits, limit: number): Promise<SessionKey[]>;
}

export const isArchive = (sessions: SessionService): sessions is SessionService & Archive =>
  'outdatedSessions' in sessions && 'allSessions' in sessions;

export interface Collected {
  readonly sessions: readonly SessionKey[];
  /** How many versions of artifacts, besides those of the sessions, and how many runs. */
  readonly versions: number;
  readonly runs: number;
}

interface Stores {
  readonly sessions: SessionService;
  readonly artifacts?: ArtifactService;
  readonly memories?: MemoryService;
  readonly runs?: Pick<RunStore, 'collectGarbage'> | undefined;
  /**
   * Deletes a session with all that belongs to it, unless it has a run or was written to since a time in seconds; resolves
   * with whether it did. Absent: it is simply deleted.
   */
  readonly deleteIdle?: (key: SessionKey, sinceTime: number) => Promise<boolean>;
}

const deletedAtOnce = 100;

/**
 * Deletes what is beyond the limits: old versions of artifacts, runs that are over, and sessions with all that belongs to
 * them. `isTrial` deletes nothing and tells what it would delete, up to a thousand sessions. It comes first in any case:
 * where a store has a time that was misread, nothing is deleted anywhere. Throws `ConfigurationException` then.
 */
export async function collectGarbage(
  stores: Stores,
  limits: RetentionLimits,
  { signal, isTrial = false }: { signal: AbortSignal; isTrial?: boolean },
): Promise<Collected> {
  const trial = await collect(stores, limits, { signal, isTrial: true });
  return isTrial ? trial : collect(stores, limits, { signal, isTrial: false });
}

async function collect(stores: Stores, limits: RetentionLimits, options: CollectOptions): Promise<Collected> {
  const { artifacts, runs } = stores;
  const { artifactVersionTtlMs, maxArtifactVersions: keep, runTtlMs } = limits;
  const now = Date.now();
  const savedBefore = artifactVersionTtlMs === undefined ? undefined : (now - artifactVersionTtlMs) / 1000;
  const versions = (await artifacts?.collectGarbage?.({ keep, savedBefore }, options)) ?? 0;
  const endedRuns = runTtlMs === undefined ? 0 : ((await runs?.collectGarbage(now - runTtlMs, options)) ?? 0);
  return { sessions: await collectSessions(stores, limits, options), versions, runs: endedRuns };
}

async function collectSessions(
  { sessions, artifacts, memories, deleteIdle }: Stores,
  limits: RetentionLimits,
  { signal, isTrial }: CollectOptions,
): Promise<SessionKey[]> {
  const collected: SessionKey[] = [];
  if (!isArchive(sessions) || (limits.sessionTtlMs === undefined && limits.maxSessions === undefined)) return collected;
  if (isTrial) return sessions.outdatedSessions(limits, 1000);
  for (;;) {
    const lookedAt = Date.now() / 1000;
    const keys = await sessions.outdatedSessions(limits, deletedAtOnce);
    const before = collected.length;
    for (const key of keys) {
      signal.throwIfAborted();
      if (deleteIdle) {
        if (await deleteIdle(key, lookedAt)) collected.push(key);
        continue;
      }
      // The session last: should we fail before, it is found again.
      await artifacts?.deleteSessionArtifacts(key);
      await memories?.deleteSessionMemory(key);
      await sessions.deleteSession(key);
      collected.push(key);
    }
    if (keys.length < deletedAtOnce || collected.length === before) return collected;
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
