import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { adkTables } from '../../../src/services/sqlite/migrations.ts';
import { adkDatabaseContract, type SharedWithAdk } from '../../contracts/adk-database.ts';
import { saying } from '../../contracts/events.ts';
import { adkSession } from '../../support/adk-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { key } = adkSession;
const { appName, userId, sessionId } = key;
let files = 0;

type Shared = Omit<SharedWithAdk, 'open'> & { file: DatabaseSync; open: () => SqlSessions };

async function connect(): Promise<Shared> {
  files += 1;
  const path = join(folder, `${files}.db`);
  const file = new DatabaseSync(path, { timeout: 5000 });
  const opened: SqlSessions[] = [];
  return {
    file,
    open() {
      const sessions = new SqlSessions(new SqliteSessionTables(new SqliteDatabase(path)));
      opened.push(sessions);
      return sessions;
    },
    async makeTables() {
      file.exec(adkTables);
    },
    async create() {
      const { createMs, appState, userState, state } = adkSession;
      file.prepare('insert into app_states values (?, ?, ?)').run(appName, appState, createMs);
      file.prepare('insert into user_states values (?, ?, ?, ?)').run(appName, userId, userState, createMs);
      file
        .prepare(
          'insert into sessions (id, app_name, user_id, state, create_time, update_time) values (?, ?, ?, ?, ?, ?)',
        )
        .run(sessionId, appName, userId, state, createMs, createMs);
    },
    async append({ id, timestamp, data }) {
      file.exec('begin immediate');
      file
        .prepare(
          `insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
            values (?, ?, ?, ?, 'e-1', ?, ?)`,
        )
        .run(id, appName, userId, sessionId, timestamp, JSON.stringify(data));
      file.prepare('update sessions set update_time = ? where id = ?').run(timestamp, sessionId);
      file.exec('commit');
    },
    async replace({ id, data }) {
      file.prepare('update events set event_data = ? where id = ?').run(JSON.stringify(data), id);
    },
    async deleteSession() {
      file.exec('delete from sessions; delete from events');
    },
    async events() {
      const rows = file.prepare('select timestamp, event_data from events order by timestamp').all();
      return rows.map(({ timestamp, event_data: data }) => ({
        ms: Number(timestamp),
        data: JSON.parse(String(data)) as Record<string, unknown>,
      }));
    },
    async state() {
      return JSON.parse(String(file.prepare('select state from sessions').get()?.['state'])) as unknown;
    },
    async leftovers() {
      return file.prepare('select 1 from agent_events').all().length;
    },
    async close() {
      for (const sessions of opened) await sessions.close();
      file.close();
    },
  };
}

adkDatabaseContract('SQLite', connect);

async function withDatabase(work: (shared: Shared) => Promise<void>): Promise<void> {
  const shared = await connect();
  try {
    await work(shared);
  } finally {
    await shared.close();
  }
}

it('opens a database of ADK for Python, whose times are texts and whose sessions count their changes', async () => {
  await withDatabase(async ({ file, open }) => {
    file.exec(
      `${adkTables.replaceAll(/\b(app_name|user_id|session_id|id) text/g, '$1 VARCHAR(128)')}
      alter table sessions add column event_sequence int not null default 0;
      insert into sessions (id, app_name, user_id, state, create_time, update_time)
        values ('s1', 'quick', 'ada', '{}', '2026-11-21 20:00:00.123456', '2026-11-21 20:00:01.123456')`,
    );
    const sessions = open();
    const session = (await sessions.getSession(key))!;
    expect(session.lastUpdateTime).toBe(Date.parse('2026-11-21T20:00:01.123Z') / 1000);
    await sessions.appendEvent(session, saying('hi', {}, { timestamp: 1_900_000_000.5 }));

    const columns = `s.event_sequence, s.update_time, e.timestamp, e.event_data ->> 'timestamp' as seconds`;
    const stored = file.prepare(`select ${columns} from sessions s, events e`).get();

    expect({ ...stored }).toEqual({
      event_sequence: 1,
      seconds: 1_900_000_000.5,
      update_time: '2030-03-17 17:46:40.500000',
      timestamp: '2030-03-17 17:46:40.500000',
    });
    expect((await open().getSession(key))?.lastUpdateTime).toBe(1_900_000_000.5);
  });
});

it('leaves a database as it was when its tables cannot be brought up to date', async () => {
  await withDatabase(async ({ file, open }) => {
    file.exec(`${adkTables}; create table agent_artifacts (mine text)`);
    const tables = (): unknown => file.prepare('select sql from sqlite_master order by name').all();
    const before = tables();

    await expect(open().check()).rejects.toMatchObject({ code: 'ConfigurationException' });

    expect(tables()).toEqual(before);
  });
});

it('refuses the first schema of ADK for Python, and a database of a newer version of ours', async () => {
  await withDatabase(async ({ file, open }) => {
    file.exec('create table events (id text, actions blob)');
    await expect(open().check()).rejects.toMatchObject({ code: 'ConfigurationException' });
  });
  await withDatabase(async ({ file, open }) => {
    await open().check();
    file.exec('insert into agent_schema values (999, 0)');
    await expect(open().check()).rejects.toMatchObject({ code: 'ConfigurationException' });
  });
});
