import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { collectGarbage } from '../../../src/services/retention.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { adkTables } from '../../../src/services/sqlite/migrations.ts';
import { saying } from '../../../src/testing/contracts/events.ts';
import { adkDatabaseContract, type SharedWithAdk } from '../../contracts/adk-database.ts';
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
    expect(session.lastUpdateTime).toBe(1_795_291_201.123456);
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

/** The tables that `SqliteSessionService` of ADK for Python makes, with a session of one event, minutes old. */
function pythonFile(file: DatabaseSync, sessionTime: number | string, eventTime = sessionTime): void {
  file.exec(`
    create table app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
    create table user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL,
      update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id));
    create table sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
      create_time REAL NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id, id));
    create table events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
      invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL,
      PRIMARY KEY (app_name, user_id, session_id, id),
      FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE)`);
  file
    .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
    .run(appName, userId, sessionId, '{"topic":"looms"}', sessionTime, sessionTime);
  pythonAppends(file, 'first', eventTime);
}

function pythonAppends(file: DatabaseSync, id: string, time: number | string): void {
  const data = { id, invocation_id: 'e-1', author: 'user', timestamp: time, content: { parts: [{ text: id }] } };
  const row = 'insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)';
  file
    .prepare(`${row} values (?, ?, ?, ?, 'e-1', ?, ?)`)
    .run(id, appName, userId, sessionId, time, JSON.stringify(data));
  file.prepare('update sessions set update_time = ?').run(time);
}

/** Event ids in the order in which Python reads them, with the times it takes them to have. */
const pythonReads = (file: DatabaseSync): unknown[] =>
  file
    .prepare(`select id, timestamp as time, event_data ->> '$.timestamp' as said from events order by timestamp, rowid`)
    .all()
    .map((row) => ({ ...row }));

const minutesAgo = (count: number): number => Math.floor(Date.now() / 1000) - 60 * count + 0.123456;

it('continues a session of the service that ADK for Python has by default, which keeps seconds', async () => {
  await withDatabase(async ({ file, open }) => {
    const [first, second, fourth] = [minutesAgo(5), minutesAgo(3), minutesAgo(1)];
    pythonFile(file, first);
    const sessions = open();
    const session = (await sessions.getSession(key))!;
    expect(session).toMatchObject({ lastUpdateTime: first, state: { topic: 'looms' }, events: [{ timestamp: first }] });

    await sessions.appendEvent(session, saying('x', { 'app:theme': 'dark' }, { id: 'second', timestamp: second }));
    await sessions.appendEvent(session, saying('x', {}, { id: 'third', timestamp: second }));
    pythonAppends(file, 'fourth', fourth);

    expect(pythonReads(file)).toEqual([
      { id: 'first', time: first, said: first },
      { id: 'second', time: second, said: second },
      { id: 'third', time: Math.round(second * 1e6 + 1) / 1e6, said: second },
      { id: 'fourth', time: fourth, said: fourth },
    ]);
    const read = await open().getSession(key);
    expect(read?.events.map(({ id }) => id)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(read?.lastUpdateTime).toBe(fourth);
    const [state] = file.prepare('select state, update_time as time from app_states').all();
    expect(state).toMatchObject({ state: '{"theme":"dark"}', time: expect.closeTo(Date.now() / 1000, -3) });
  });
});

it('deletes the old sessions of such a file, and no young ones', async () => {
  await withDatabase(async ({ file, open }) => {
    pythonFile(file, minutesAgo(5));
    const old = [appName, userId, 'old', '{}', minutesAgo(90), minutesAgo(90)];
    file.prepare('insert into sessions values (?, ?, ?, ?, ?, ?)').run(...old);
    const { signal } = new AbortController();

    const { sessions } = await collectGarbage({ sessions: open() }, { sessionTtlMs: 3_600_000 }, { signal });

    expect(sessions).toEqual([{ appName, userId, sessionId: 'old' }]);
  });
});

it('goes on in the form that the times of a session have', async () => {
  await withDatabase(async ({ file, open }) => {
    pythonFile(file, '2026-11-21 20:00:00.123456');
    const sessions = open();
    const session = (await sessions.getSession(key))!;
    await sessions.appendEvent(session, saying('x', {}, { id: 'second', timestamp: 1_795_291_200.123456 }));

    expect(session.lastUpdateTime).toBe(1_795_291_200.123457);
    expect(pythonReads(file)[1]).toEqual({
      id: 'second',
      time: '2026-11-21 20:00:00.123457',
      said: 1_795_291_200.123456,
    });
  });
});

it('mends times in milliseconds that an earlier version of ours left where Python keeps seconds', async () => {
  await withDatabase(async ({ file, open }) => {
    pythonFile(file, 1_795_291_522_852);
    const sessions = open();
    const session = (await sessions.getSession(key))!;

    expect(session).toMatchObject({ lastUpdateTime: 1_795_291_522.852, events: [{ timestamp: 1_795_291_522.852 }] });
    expect(pythonReads(file)).toEqual([{ id: 'first', time: 1_795_291_522.852, said: 1_795_291_522.852 }]);
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
