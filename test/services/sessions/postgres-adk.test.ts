import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newEvent } from '../../../src/core/new-event.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { adkTables } from '../../../src/services/postgres/migrations.ts';
import { PostgresSessionTables } from '../../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { saying } from '../../contracts/events.ts';
import { type AdkEvent, adkEvent, adkSession, adkSessionHere } from '../../support/adk-database.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const { appName, userId, sessionId } = adkSession.key;
const key = adkSession.key;

/** Stores an event as ADK does. */
async function adkAppend(client: pg.Client, { id, timestamp, data }: AdkEvent): Promise<void> {
  const at = new Date(timestamp);
  await client.query('select 1 from sessions where id = $1 for update', [sessionId]);
  await client.query(
    `insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
      values ($1, $2, $3, $4, 'e-1', $5, $6)`,
    [id, appName, userId, sessionId, at, JSON.stringify(data)],
  );
  await client.query('update sessions set update_time = $1 where id = $2', [at, sessionId]);
}

async function adkCreate(client: pg.Client): Promise<void> {
  const at = new Date(adkSession.createMs);
  await client.query('insert into app_states values ($1, $2, $3)', [appName, adkSession.appState, at]);
  await client.query('insert into user_states values ($1, $2, $3, $4)', [appName, userId, adkSession.userState, at]);
  await client.query(
    'insert into sessions (id, app_name, user_id, state, create_time, update_time) values ($1, $2, $3, $4, $5, $5)',
    [sessionId, appName, userId, adkSession.state, at],
  );
}

async function withDatabase(work: (client: pg.Client, open: () => SqlSessions) => Promise<void>): Promise<void> {
  const uri = await server.newDatabase();
  const client = new pg.Client(uri);
  await client.connect();
  const opened: SqlSessions[] = [];
  try {
    await work(client, () => {
      const sessions = new SqlSessions(new PostgresSessionTables(new PostgresDatabase(uri)));
      opened.push(sessions);
      return sessions;
    });
  } finally {
    for (const sessions of opened) await sessions.close();
    await client.end();
  }
}

it('opens a database of ADK, in order and with its state', async () => {
  await withDatabase(async (client, open) => {
    await client.query(adkTables);
    await adkCreate(client);
    for (const event of adkSession.events) await adkAppend(client, event);

    const session = await open().getSession(key);

    expect(session).toMatchObject(adkSessionHere);
    expect(session?.state).toEqual(adkSessionHere.state);
  });
});

it('continues in turn with ADK, each reading what the other wrote, in one order', async () => {
  await withDatabase(async (client, open) => {
    await client.query(adkTables);
    await adkCreate(client);
    const [first, second, ...rest] = adkSession.events;
    await adkAppend(client, first!);
    const sessions = open();

    await sessions.appendEvent((await sessions.getSession(key))!, { ...saying('ours 1'), timestamp: 1 });
    await adkAppend(client, second!);
    for (const text of ['ours 2', 'ours 3']) {
      await sessions.appendEvent((await sessions.getSession(key))!, saying(text));
    }
    for (const event of rest) await adkAppend(client, event);

    const ids = (await sessions.getSession(key))?.events.map((event) => event.content?.parts[0]?.text ?? event.id);
    expect(ids).toEqual(['hi', 'ours 1', 'uMYzqbau', 'ours 2', 'ours 3', 'URplCCWI', 'Three 👋']);
  });
});

it('leaves events that ADK reads: keys in snake_case but for data, its time in milliseconds, times that grow', async () => {
  await withDatabase(async (client, open) => {
    const sessions = open();
    const session = await sessions.createSession(key, { sessionId, state: { topic: 'looms' } });
    const content = { role: 'model', parts: [{ functionCall: { name: 'add', args: { aB: 1, c_d: 2 } } }] };
    const event = newEvent({ invocationId: 'e-7' }, 'bot', { content });
    for (const given of [event, saying('same time', { aB: 1 }, { timestamp: event.timestamp })]) {
      await sessions.appendEvent(session, given);
    }

    const { rows } = await client.query<{ timestamp: Date; event_data: Record<string, unknown> }>(
      'select timestamp, event_data from events where session_id = $1 order by timestamp',
      [sessionId],
    );

    expect(rows[0]?.event_data).toMatchObject({
      id: event.id,
      invocation_id: 'e-7',
      timestamp: Math.floor(event.timestamp * 1000),
      content: { parts: [{ function_call: { name: 'add', args: { aB: 1, c_d: 2 } } }] },
    });
    expect(rows[1]?.event_data).toMatchObject({ actions: { state_delta: { aB: 1 } } });
    expect(rows[1]!.timestamp.getTime()).toBeGreaterThan(rows[0]!.timestamp.getTime());
    const { rows: stored } = await client.query('select state from sessions');
    expect(stored).toEqual([{ state: { topic: 'looms', aB: 1 } }]);
  });
});

it('sees an event that ADK replaced', async () => {
  await withDatabase(async (client, open) => {
    const sessions = open();
    const session = await sessions.createSession(key, { sessionId });
    await sessions.appendEvent(session, saying('before', {}, { id: 'one' }));
    await sessions.getSession(key);
    const { data } = adkEvent('one', Date.now(), { content: { role: 'model', parts: [{ text: 'after' }] } });
    await client.query(`update events set event_data = $1 where id = 'one'`, [JSON.stringify(data)]);

    expect((await sessions.getSession(key))?.events[0]?.content?.parts[0]?.text).toBe('after');
  });
});

it('forgets what it kept of a session that ADK deleted, and takes the same id for a new one', async () => {
  await withDatabase(async (client, open) => {
    const sessions = open();
    const session = await sessions.createSession(key, { sessionId });
    await sessions.appendEvent(session, saying('old'));
    await client.query('delete from sessions');
    await client.query('delete from events');
    expect(await sessions.getSession(key)).toBeUndefined();
    expect((await client.query('select from agent_events')).rowCount).toBe(0);

    await adkCreate(client);
    await adkAppend(client, adkSession.events[0]!);

    expect((await sessions.getSession(key))?.events.map(({ id }) => id)).toEqual(['10EwYzu9']);
  });
});

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

    const { rows } = await client.query<{ event_sequence: number; ms: number }>(
      'select event_sequence, (extract(epoch from e.timestamp) * 1000)::float8 as ms from sessions, events e',
    );

    expect(rows[0]?.event_sequence).toBe(1);
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
