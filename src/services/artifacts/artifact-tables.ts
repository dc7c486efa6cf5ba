import type { VersionLimits } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';

/** The key of an artifact in the tables: `sessionId` is empty for artifacts of the user. */
export interface ArtifactKey extends SessionKey {
  readonly name: string;
}

/** A version without its bytes. */
export interface ArtifactRow {
  readonly version: number;
  /** JSON of the part without its bytes, and of the caller's metadata. */
  readonly part: string;
  readonly metadata: string;
  readonly mimeType: string | null;
  readonly size: number;
  readonly hasBytes: boolean;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

export interface NewArtifactRow extends Omit<ArtifactRow, 'version' | 'hasBytes'> {
  readonly key: ArtifactKey;
  /** The version gets this number, or the next one after all existing versions. */
  readonly atLeast: number;
  readonly chunks: readonly Uint8Array[];
}

export interface ImplausibleVersion {
  readonly name: string;
  readonly createdAt: number | null;
}

/** Selects old versions by their keys. The arguments are the database's placeholders for the limits. */
export const oldVersionsOf = (keep: string, savedBefore: string): string =>
  `select app_name, user_id, session_id, name, version from (
      select app_name, user_id, session_id, name, version, created_at, lead(version) over versions as successor,
        lead(version, ${keep}) over versions as enough from agent_artifacts
        window versions as (partition by app_name, user_id, session_id, name order by version)) v
    where enough is not null or (successor is not null and created_at < ${savedBefore})`;

/** Selects a version with a time outside a range, in seconds. */
export const implausibleVersion = (earliest: string, latest: string): string =>
  `select name, created_at as "createdAt" from agent_artifacts
    where created_at is null or created_at < ${earliest} or created_at > ${latest} limit 1`;

/** The `keep` for "all": more versions than can exist. */
export const keepAll = 2_000_000_000;

/** The statements of an artifact store in a relational database. All throw `unavailable` when it is unreachable. */
export interface ArtifactTables {
  /** Stores the next version atomically. Returns its number. */
  save(row: NewArtifactRow): Promise<number>;
  /** Ascending. */
  versions(key: ArtifactKey): Promise<ArtifactRow[]>;
  bytes(key: ArtifactKey, version: number): Promise<Uint8Array[]>;
  /** Names of the session and of its user. */
  names(key: SessionKey): Promise<string[]>;
  delete(key: ArtifactKey): Promise<void>;
  deleteSession(key: SessionKey): Promise<void>;
  /** A version with a time outside this range, in seconds. */
  findImplausible(earliest: number, latest: number): Promise<ImplausibleVersion | undefined>;
  /** Counts old versions. */
  countOld(limits: VersionLimits): Promise<number>;
  /** Deletes at most `limit` of them in one transaction. Returns their number. */
  deleteOld(limits: VersionLimits, limit: number): Promise<number>;
  check(): Promise<void>;
  close(): Promise<void>;
}
