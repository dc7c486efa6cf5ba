import type { VersionLimits } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
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

const ofArtifact = 'app_name = $1 and user_id = $2 and session_id = $3 and name = $4';

/** The artifact tables in PostgreSQL. */
export class PostgresArtifactTables implements ArtifactTables {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  save(row: NewArtifactRow): Promise<number> {
    const place = placeOf(row.key);
    return this.#database.transaction(async (client) => {
      // Serializes saves of the same artifact, so that two versions never get one number.
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [JSON.stringify(place)]);
      const { rows } = await client.query<{ version: number }>(
        `insert into agent_artifacts
          (app_name, user_id, session_id, name, version, part, size, mime_type, metadata, created_at)
          select $1, $2, $3, $4,
            (select greatest(max(version) + 1, $10::int) from agent_artifacts where ${ofArtifact}), $5, $6, $7, $8, $9
          returning version`,
        [...place, row.part, row.size, row.mimeType, row.metadata, row.createdAt, row.atLeast],
      );
      const version = rows[0]?.version ?? 0;
      for (const [chunk, bytes] of row.chunks.entries()) {
        await client.query('insert into agent_artifact_bytes values ($1, $2, $3, $4, $5, $6, $7)', [
          ...place,
          version,
          chunk,
          Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        ]);
      }
      return version;
    });
  }

  versions(key: ArtifactKey): Promise<ArtifactRow[]> {
    return this.#database.query<ArtifactRow>(
      `select version, part, metadata, mime_type as "mimeType", size::float8 as size, created_at as "createdAt",
        exists (select from agent_artifact_bytes b where b.app_name = a.app_name and b.user_id = a.user_id
          and b.session_id = a.session_id and b.name = a.name and b.version = a.version) as "hasBytes"
        from agent_artifacts a where ${ofArtifact} order by version`,
      placeOf(key),
    );
  }

  async bytes(key: ArtifactKey, version: number): Promise<Uint8Array[]> {
    const rows = await this.#database.query<{ bytes: Buffer }>(
      `select bytes from agent_artifact_bytes where ${ofArtifact} and version = $5 order by chunk`,
      [...placeOf(key), version],
    );
    return rows.map(({ bytes }) => bytes);
  }

  async names({ appName, userId, sessionId }: SessionKey): Promise<string[]> {
    const rows = await this.#database.query<{ name: string }>(
      `select distinct name from agent_artifacts where app_name = $1 and user_id = $2 and session_id in ($3, '')`,
      [appName, userId, sessionId],
    );
    return rows.map(({ name }) => name);
  }

  async delete(key: ArtifactKey): Promise<void> {
    await this.#database.query(
      `with gone as (delete from agent_artifacts where ${ofArtifact})
        delete from agent_artifact_bytes where ${ofArtifact}`,
      placeOf(key),
    );
  }

  async deleteSession({ appName, userId, sessionId }: SessionKey): Promise<void> {
    const ofSession = `app_name = $1 and user_id = $2 and session_id = $3 and session_id <> ''`;
    await this.#database.query(
      `with gone as (delete from agent_artifacts where ${ofSession})
        delete from agent_artifact_bytes where ${ofSession}`,
      [appName, userId, sessionId],
    );
  }

  async findImplausible(earliest: number, latest: number): Promise<ImplausibleVersion | undefined> {
    const text = implausibleVersion('$1::float8', '$2::float8');
    return (await this.#database.query<ImplausibleVersion>(text, [earliest, latest]))[0];
  }

  async countOld({ keep = keepAll, savedBefore }: VersionLimits): Promise<number> {
    const [row] = await this.#database.query<{ count: number }>(
      `select count(*)::int as count from (${oldVersionsOf('$1::int', '$2::float8')}) old`,
      [keep, savedBefore],
    );
    return row?.count ?? 0;
  }

  deleteOld({ keep = keepAll, savedBefore }: VersionLimits, limit: number): Promise<number> {
    return this.#database.transaction(async (client) => {
      // One server at a time: two that delete the same rows could deadlock.
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', ['agent_artifacts old']);
      const { rows } = await client.query<{ count: number }>(
        `with old as (${oldVersionsOf('$1::int', '$2::float8')} limit $3),
          bytes as (delete from agent_artifact_bytes b using old where ${isSame('b')}),
          gone as (delete from agent_artifacts a using old where ${isSame('a')} returning 1)
          select count(*)::int as count from gone`,
        [keep, savedBefore, limit],
      );
      return rows[0]?.count ?? 0;
    });
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const isSame = (table: string): string =>
  ['app_name', 'user_id', 'session_id', 'name', 'version']
    .map((column) => `${table}.${column} = old.${column}`)
    .join(' and ');

const placeOf = ({ appName, userId, sessionId, name }: ArtifactKey): string[] => [appName, userId, sessionId, name];
