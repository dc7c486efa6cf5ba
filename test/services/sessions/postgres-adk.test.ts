import pg from 'pg';
import { expect, it } from 'vitest';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { adkTables } from '../../../src/services/postgres/migrations.ts';
import { PostgresSessionTables } from '../../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { saying } from '../../../src/testing/contracts/events.ts';
import { adkDatabaseContract, type SharedWithAdk } from '../../contracts/adk-database.ts';
import { adkSession } from '../../support/adk-database.ts';
import { newDatabase } from '../../support/shared.ts';

const { key } = adkSession;
const { appName, userId, sessionId } = key;

async function withDatabase(work: (client: pg.Client, open: () => SqlSessions) => Promise<void>): Promise<void> {
  const shared = await connect();
  try {
    await work(shared.client, () => shared.open());
  } finally {
    await shared.close();
  }
}

async function connect(): Promise<Omit<SharedWithAdk, 'open'> & { client: pg.Client; open: () => SqlSessions }> {
  const uri = await newDatabase();
  const client = new pg.Client(uri);
  await client.connect();
  const opened: SqlSessions[] = [];
  return {
    client,
    open() {
      const sessions = new SqlSessions(new PostgresSessionTables(new PostgresDatabase(uri)));
      opened.push(sessions);
      return sessions;
    },
    async makeTables() {
      await client.query(adkTables);
    },
    async create() {
      const at = new Date(adkSession.createMs);
      await client.query('insert into app_states values ($1, $2, $3)', [appName, adkSession.appState, at]);
      await client.query('insert into user_states values ($1, $2, $3, $4)', [
        appName,
        userId,
        adkSession.userState,
        at,
      ]);
      await client.query(
        'insert into sessions (id, app_name, user_id, state, create_time, update_time) values ($1, $2, $3, $4, $5, $5)',
        [sessionId, appName, userId, adkSession.state, at],
      );
    },
    async append({ id, timestamp, data }) {
      const at = new Date(timestamp);
      await client.query('select 1 from sessions where id = $1 for update', [sessionId]);
      await client.query(
        `insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
          values ($1, $2, $3, $4, 'e-1', $5, $6)`,
        [id, appName, userId, sessionId, at, JSON.stringify(data)],
      );
      await client.query('update sessions set update_time = $1 where id = $2', [at, sessionId]);
    },
    async replace({ id, data }) {
      await client.query('update events set event_data = $1 where id = $2', [JSON.stringify(data), id]);
    },
    async deleteSession() {
      await client.query('delete from sessions');
      await client.query('delete from events');
    },
    async events() {
      const { rows } = await client.query<{ timestamp: Date; event_data: Record<string, unknown> }>(
        'select timestamp, event_data from events order by timestamp',
      );
      return rows.map(({ timestamp, event_data: data }) => ({ ms: timestamp.getTime(), data }));
    },
    async state() {
      return (await client.query<{ state: unknown }>('select state from sessions')).rows[0]?.state;
    },
    async leftovers() {
      return (await client.query('select from agent_events')).rowCount ?? 0;
    },
    async close() {
      for (const sessions of opened) await sessions.close();
      await client.end();
    },
  };
}

adkDatabaseContract('PostgreSQL', connect);

it('opens a database of ADK for Python, whose times have no zone and whose sessions count their changes', async () => {
  await withDatabase(async (client, open) => {
    await client.query(
      adkTables.replaceAll('timestamptz', 'timestamp').replaceAll('(191)', '(128)') +
        'alter table sessions add column event_sequence int not null default 0',
    );
    await client.query(`set timezone = 'America/New_York'`);
    const sessions = open();
    const session = await sessions.createSession(key, { sessionId });
    const stored = await sessions.appendEvent(session, saying('hi'));

    const { rows } = await client.query<{ event_sequence: number; ms: number; seconds: number }>(
      `select event_sequence, (extract(epoch from e.timestamp) * 1000)::float8 as ms,
        (event_data -> 'timestamp')::float8 as seconds from sessions, events e`,
    );

    expect(rows[0]).toMatchObject({ event_sequence: 1, seconds: stored.timestamp });
    expect(Math.abs(rows[0]!.ms - stored.timestamp * 1000)).toBeLessThan(10);
    expect((await open().getSession(key))?.lastUpdateTime).toBe(session.lastUpdateTime);
  });
});

it('refuses the first schema of ADK for Python, and a database of a newer version of ours', async () => {
  await withDatabase(async (client, open) => {
    await client.query('create table events (id text, actions bytea)');
    await expect(open().check()).rejects.toMatchObject({ code: 'ConfigurationException' });
  });
  await withDatabase(async (client, open) => {
    await open().check();
    await client.query('insert into agent_schema values (999)');
    await expect(open().check()).rejects.toMatchObject({ code: 'ConfigurationException' });
  });
});

it('serves with no right to make tables, once somebody else has made them', async () => {
  await withDatabase(async (client, open) => {
    await open().check();
    const { rows } = await client.query<{ name: string }>('select current_database() as name');
    const user = `${rows[0]!.name}_user`;
    await client.query(`
      create role ${user} login;
      revoke create on schema public from public;
      grant select, insert, update, delete on all tables in schema public to ${user};
      grant usage on all sequences in schema public to ${user}`);
    const database = new PostgresDatabase(`postgres://${user}@127.0.0.1:${client.port}/${rows[0]!.name}`);
    const sessions = new SqlSessions(new PostgresSessionTables(database));

    const session = await sessions.createSession(key, { sessionId });
    await sessions.appendEvent(session, saying('hi'));

    expect((await sessions.getSession(key))?.events).toHaveLength(1);
    await sessions.close();
  });
});
