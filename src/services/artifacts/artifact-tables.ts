import type { VersionLimits } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';

/** Which artifact, as the tables know it: `sessionId` is empty for what belongs to the user. */
export interface ArtifactKey extends SessionKey {
  readonly name: string;
}

/** A version without its bytes. */
export interface ArtifactRow {
  readonly version: number;
  /** JSON of the part without its bytes, and of what the caller noted. */
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
  /** The version gets this number, or the next that is free behind all that are there. */
  readonly firstVersion: number;
  readonly chunks: readonly Uint8Array[];
}

export interface IncredibleVersion {
  readonly name: string;
  readonly createdAt: number | null;
}

/** Selects old versions by their keys: what stands for the limits is said in the way of the database. */
export const oldVersionsOf = (keep: string, savedBefore: string): string =>
  `select app_name, user_id, session_id, name, version from (
      select app_name, user_id, session_id, name, version, created_at, lead(version) over versions as successor,
        lead(version, ${keep}) over versions as enough from agent_artifacts
        window versions as (partition by app_name, user_id, session_id, name order by version)) v
    where enough is not null or (successor is not null and created_at < ${savedBefore})`;

/** Selects a version with a time outside of two, in seconds. */
export const incredibleVersion = (earliest: string, latest: string): string =>
  `select name, created_at as "createdAt" from agent_artifacts
    where created_at is null or created_at < ${earliest} or created_at > ${latest} limit 1`;

/** For `keep`, when all are kept: more versions than there can be. */
export const keepAll = 2_000_000_000;

/** The statements an artifact store needs of a relational database. All throw `unavailable` when it is out of reach. */
export interface ArtifactTables {
  /** Stores the next version, all of it or nothing, and gives its number. */
  save(row: NewArtifactRow): Promise<number>;
  /** Ascending. */
  versions(key: ArtifactKey): Promise<ArtifactRow[]>;
  bytes(key: ArtifactKey, version: number): Promise<Uint8Array[]>;
  /** Names of the session and of its user. */
  names(key: SessionKey): Promise<string[]>;
  delete(key: ArtifactKey): Promise<void>;
  deleteSession(key: SessionKey): Promise<void>;
  /** A version with a time outside of these, in seconds. */
  findIncredible(earliest: number, latest: number): Promise<IncredibleVersion | undefined>;
  /** Counts old versions. */
  countOld(limits: VersionLimits): Promise<number>;
  /** Deletes at most so many of them, in one transaction, and gives their number. */
  deleteOld(limits: VersionLimits, limit: number): Promise<number>;
  check(): Promise<void>;
  close(): Promise<void>;
}
