import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openServices } from '../../src/services/open-services.ts';
import { PostgresDatabase } from '../../src/services/postgres/database.ts';
import { isArchive } from '../../src/services/retention.ts';
import { PostgresSessionTables } from '../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../src/services/sqlite/database.ts';
import { retentionContract } from '../contracts/retention.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-retention-'));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});
let files = 0;

retentionContract('SQLite', async () => {
  files += 1;
  return new SqlSessions(new SqliteSessionTables(new SqliteDatabase(join(folder, `${files}.db`))));
});
retentionContract(
  'PostgreSQL',
  async () => new SqlSessions(new PostgresSessionTables(new PostgresDatabase(await server.newDatabase()))),
);

it('keeps sessions in memory to the same limits, and lets go what belongs to them', async () => {
  const memory = { sessionService: 'memory:', artifactService: 'memory:', memoryService: 'memory:' };
  const { sessions, artifacts } = openServices({ ...memory, maxSessions: 1 });
  const owner = { appName: 'app', userId: 'ada' };
  const first = { ...owner, sessionId: 'first' };
  await sessions.createSession(owner, { sessionId: 'first' });
  await artifacts.saveArtifact(first, 'note', { text: 'x' });

  await sessions.createSession(owner, { sessionId: 'second' });

  expect((await sessions.listSessions(owner)).map(({ id }) => id)).toEqual(['second']);
  expect(await artifacts.listArtifactKeys(first)).toEqual([]);
  expect(isArchive(sessions)).toBe(false);
});
