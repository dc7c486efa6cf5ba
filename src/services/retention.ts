import { setTimeout as pause } from 'node:timers/promises';
import type { RunStore } from '../core/run-store.ts';
import type { ArtifactService, CollectOptions, MemoryService, SessionService } from '../core/services.ts';
import type { UsageStore } from '../core/usage-store.ts';
import type { SessionKey } from '../schemas/session.ts';

/** Limits of stored data. An absent limit means no limit. */
export interface RetentionLimits {
  /** Milliseconds since the last write to a session. */
  readonly sessionTtlMs?: number | undefined;
  /** Sessions of all apps together; those with the oldest last write are deleted first. */
  readonly maxSessions?: number | undefined;
  /** Milliseconds since a version of an artifact was saved; the newest one stays. */
  readonly artifactVersionTtlMs?: number | undefined;
  /** Versions per artifact; the newest are kept. */
  readonly maxArtifactVersions?: number | undefined;
  /** Milliseconds since a run ended. */
  readonly runTtlMs?: number | undefined;
}

/** A session store that can list all sessions, and those beyond limits. */
export interface Archive {
  /** All sessions, evaluation sessions included, in the order they were created. */
  allSessions(): AsyncIterable<SessionKey>;
  /**
   * At most `limit` sessions beyond the limits, without those that have a run. Throws `ConfigurationException` when any
   * session has an implausible time (`requirePlausible`).
   */
  outdatedSessions(limits: RetentionLimits, limit: number): Promise<SessionKey[]>;
}

export const isArchive = (sessions: SessionService): sessions is SessionService & Archive =>
  'outdatedSessions' in sessions && 'allSessions' in sessions;

export interface Collected {
  readonly sessions: readonly SessionKey[];
  /** Number of artifact versions, besides those of the sessions, and of runs. */
  readonly versions: number;
  readonly runs: number;
}

interface Stores {
  readonly sessions: SessionService;
  readonly artifacts?: ArtifactService;
  readonly memories?: MemoryService;
  readonly runs?: Pick<RunStore, 'collectGarbage'> | undefined;
  readonly usage?: Pick<UsageStore, 'collectGarbage'> | undefined;
  /**
   * Deletes a session with everything that belongs to it, unless it has a run or was written to since a time in seconds.
   * Resolves with whether it was deleted. Absent: sessions are deleted without this check.
   */
  readonly deleteIdle?: (key: SessionKey, sinceTime: number) => Promise<boolean>;
}

const deletedAtOnce = 100;

/**
 * Deletes data beyond the limits: old versions of artifacts, ended runs, usage of earlier days, and sessions with
 * everything that belongs to them. `isTrial` deletes nothing and returns what would be deleted, up to a thousand sessions.
 * A trial always runs first: if a store has an implausible time, nothing is deleted anywhere. Throws
 * `ConfigurationException` then.
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
  const { artifacts, runs, usage } = stores;
  const { artifactVersionTtlMs, maxArtifactVersions: keep, runTtlMs } = limits;
  const now = Date.now();
  const savedBefore = artifactVersionTtlMs === undefined ? undefined : (now - artifactVersionTtlMs) / 1000;
  const versions = (await artifacts?.collectGarbage?.({ keep, savedBefore }, options)) ?? 0;
  const endedRuns = runTtlMs === undefined ? 0 : ((await runs?.collectGarbage(now - runTtlMs, options)) ?? 0);
  if (!options.isTrial) await usage?.collectGarbage();
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
      // The session last: after a failure, the next collection finds it again.
      await artifacts?.deleteSessionArtifacts(key);
      await memories?.deleteSessionMemory(key);
      await sessions.deleteSession(key);
      collected.push(key);
    }
    if (keys.length < deletedAtOnce || collected.length === before) return collected;
  }
}

/** Collects periodically until the signal aborts. Failures go to `onFailure`, and the next collection runs as planned. */
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
