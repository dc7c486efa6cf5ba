import type { SessionKey } from '../../schemas/session.ts';
import type { WriteContext } from '../sqlite/write-context.ts';
import type { ArtifactKey, NewArtifactRow } from './artifact-tables.ts';

// What changes artifacts in SQLite. Runs in the thread that writes, within a transaction.

const ofArtifact = 'app_name = ? and user_id = ? and session_id = ? and name = ?';

export function saveArtifact({ connection }: WriteContext, row: NewArtifactRow): number {
  const { appName, userId, sessionId, name } = row.key;
  const place = [appName, userId, sessionId, name];
  const version =
    connection.get<{ next: number }>(
      `select coalesce(max(version) + 1, 0) as next from agent_artifacts where ${ofArtifact}`,
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
