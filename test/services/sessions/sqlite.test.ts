import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { sessionServiceContract } from '../../contracts/sessions.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = (): SqlSessions =>
  new SqlSessions(new SqliteSessionTables(new SqliteDatabase(join(folder, 'sessions.db'))));

sessionServiceContract('SQLite', open);
