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
  readonly chunks: readonly Uint8Array[];
}

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
  check(): Promise<void>;
  close(): Promise<void>;
}
