import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { sessionServiceContract } from '../../../src/testing/contracts/sessions.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = (): SqlSessions =>
  new SqlSessions(new SqliteSessionTables(new SqliteDatabase(join(folder, 'sessions.db'))));

sessionServiceContract('SQLite', open);

it('writes no removed keys of an initial state into the table, which other ADK servers read', async () => {
  const state = { a: null, b: '__ADK_SENTINEL_REMOVED__', c: 1 };
  const sessions = open();
  await sessions.createSession({ appName: 'removals', userId: 'ada' }, { state });
  await sessions.close();
  const file = new DatabaseSync(join(folder, 'sessions.db'), { readOnly: true });

  const row = file.prepare("select state from sessions where app_name = 'removals'").get();

  file.close();
  expect(row).toEqual({ state: '{"c":1}' });
});

it('makes the folder of its file, and says when it cannot', async () => {
  const deep = new SqliteDatabase(join(folder, 'not/there/yet.db'));
  await deep.check();
  await deep.close();
  writeFileSync(join(folder, 'file'), '');
  const impossible = new SqliteDatabase(join(folder, 'file/below.db'));

  await expect(impossible.check()).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 });
  writeFileSync(join(folder, 'text.db'), 'This is no database. '.repeat(100));
  await expect(new SqliteDatabase(join(folder, 'text.db')).check()).rejects.toMatchObject({ code: 'unavailable' });
});
