import type { VersionLimits } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import {
  type ArtifactKey,
  type ArtifactRow,
  type ArtifactTables,
  keepAll,
  type NewArtifactRow,
  implausibleVersion,
  type ImplausibleVersion,
  oldVersionsOf,
} from './artifact-tables.ts';

const ofArtifact = 'app_name = ? and user_id = ? and session_id = ? and name = ?';

/** The artifact tables in SQLite. */
export class SqliteArtifactTables implements ArtifactTables {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  save(row: NewArtifactRow): Promise<number> {
    return this.#database.write('saveArtifact', row);
  }

  async versions({ appName, userId, sessionId, name }: ArtifactKey): Promise<ArtifactRow[]> {
    const rows = await this.#database.read((connection) =>
      connection.all<Omit<ArtifactRow, 'hasBytes'> & { hasBytes: number }>(
        `select version, part, metadata, mime_type as mimeType, size, created_at as createdAt,
          exists (select 1 from agent_artifact_bytes b where b.app_name = a.app_name and b.user_id = a.user_id
            and b.session_id = a.session_id and b.name = a.name and b.version = a.version) as hasBytes
          from agent_artifacts a where ${ofArtifact} order by version`,
        appName,
        userId,
        sessionId,
        name,
      ),
    );
    return rows.map((row) => ({ ...row, hasBytes: row.hasBytes === 1 }));
  }

  async bytes({ appName, userId, sessionId, name }: ArtifactKey, version: number): Promise<Uint8Array[]> {
    const sql = `select bytes from agent_artifact_bytes where ${ofArtifact} and version = ? order by chunk`;
    const rows = await this.#database.read((connection) =>
      connection.all<{ bytes: Uint8Array }>(sql, appName, userId, sessionId, name, version),
    );
    return rows.map(({ bytes }) => bytes);
  }

  async names({ appName, userId, sessionId }: SessionKey): Promise<string[]> {
    const sql = `select distinct name from agent_artifacts
      where app_name = ? and user_id = ? and session_id in (?, '')`;
    const rows = await this.#database.read((connection) =>
      connection.all<{ name: string }>(sql, appName, userId, sessionId),
    );
    return rows.map(({ name }) => name);
  }

  delete(key: ArtifactKey): Promise<void> {
    return this.#database.write('deleteArtifact', key);
  }

  deleteSession(key: SessionKey): Promise<void> {
    return this.#database.write('deleteSessionArtifacts', key);
  }

  findImplausible(earliest: number, latest: number): Promise<ImplausibleVersion | undefined> {
    return this.#database.read((one) => one.get<ImplausibleVersion>(implausibleVersion('?', '?'), earliest, latest));
  }

  async countOld({ keep = keepAll, savedBefore }: VersionLimits): Promise<number> {
    const sql = `select count(*) as count from (${oldVersionsOf('?', '?')})`;
    const row = await this.#database.read((one) => one.get<{ count: number }>(sql, keep, savedBefore ?? null));
    return row?.count ?? 0;
  }

  deleteOld(limits: VersionLimits, limit: number): Promise<number> {
    return this.#database.write('deleteOldArtifacts', { limits, limit });
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
