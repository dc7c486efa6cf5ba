import type { VersionLimits } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { WriteContext } from '../sqlite/dialect.ts';
import { type ArtifactKey, keepAll, type NewArtifactRow, oldVersionsOf } from './artifact-tables.ts';

// The writes of artifacts in SQLite. They run in the writer thread, within a transaction.

const ofArtifact = 'app_name = ? and user_id = ? and session_id = ? and name = ?';

export function saveArtifact({ connection }: WriteContext, row: NewArtifactRow): number {
  const { appName, userId, sessionId, name } = row.key;
  const place = [appName, userId, sessionId, name];
  const version =
    connection.get<{ next: number }>(
      `select max(coalesce(max(version) + 1, 0), ?) as next from agent_artifacts where ${ofArtifact}`,
      row.atLeast,
      ...place,
    )?.next ?? 0;
  connection.run(
    `insert into agent_artifacts (app_name, user_id, session_id, name, version, part, size, mime_type, metadata, created_at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...place,
    version,
    row.part,
    row.size,
    row.mimeType,
    row.metadata,
    row.createdAt,
  );
  for (const [chunk, bytes] of row.chunks.entries()) {
    connection.run('insert into agent_artifact_bytes values (?, ?, ?, ?, ?, ?, ?)', ...place, version, chunk, bytes);
  }
  return version;
}

export function deleteArtifact({ connection }: WriteContext, { appName, userId, sessionId, name }: ArtifactKey): void {
  for (const table of ['agent_artifact_bytes', 'agent_artifacts']) {
    connection.run(`delete from ${table} where ${ofArtifact}`, appName, userId, sessionId, name);
  }
}

export function deleteSessionArtifacts({ connection }: WriteContext, { appName, userId, sessionId }: SessionKey): void {
  for (const table of ['agent_artifact_bytes', 'agent_artifacts']) {
    connection.run(
      `delete from ${table} where app_name = ? and user_id = ? and session_id = ? and session_id <> ''`,
      appName,
      userId,
      sessionId,
    );
  }
}

interface OldRow {
  readonly app_name: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly name: string;
  readonly version: number;
}

export function deleteOldArtifacts(
  { connection }: WriteContext,
  { limits: { keep = keepAll, savedBefore }, limit }: { limits: VersionLimits; limit: number },
): number {
  const sql = `${oldVersionsOf('?', '?')} limit ?`;
  const rows = connection.all<OldRow>(sql, keep, savedBefore ?? null, limit);
  for (const { app_name: appName, user_id: userId, session_id: sessionId, name, version } of rows) {
    for (const table of ['agent_artifact_bytes', 'agent_artifacts']) {
      const row = `delete from ${table} where ${ofArtifact} and version = ?`;
      connection.run(row, appName, userId, sessionId, name, version);
    }
  }
  return rows.length;
}
