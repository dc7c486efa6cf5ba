import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generation, keyOf, type Session } from '../../../src/schemas/session.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { PostgresSessionTables } from '../../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { freshOwner, saying } from '../../../src/testing/contracts/events.ts';
import { newDatabase } from '../../support/shared.ts';

let uri: string;
let sessions: SqlSessions;
let other: SqlSessions;
let client: pg.Client;
beforeAll(async () => {
  uri = await newDatabase();
  sessions = new SqlSessions(new PostgresSessionTables(new PostgresDatabase(uri)));
  other = new SqlSessions(new PostgresSessionTables(new PostgresDatabase(uri)));
  await Promise.all([sessions.check(), other.check()]); // both migrate
  client = new pg.Client(uri);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await sessions.close();
  await other.close();
});

const owned = async (fencingToken: number): Promise<Session> => {
  const session = await sessions.createSession(freshOwner());
  await client.query('update sessions set fence = $2 where id = $1', [session.id, fencingToken]);
  return session;
};
const numberOf = (session: Session): number => Number(session[generation]);
const textsOf = ({ events }: Session): (string | undefined)[] => events.map(({ content }) => content?.parts[0]?.text);

it('appends for the run that owns the session and refuses the one that does not any more', async () => {
  const session = await owned(7);

  await sessions.appendEvent(session, saying('mine'), {
    session: numberOf(session),
    runId: `${session.id}-r`,
    fencingToken: 7,
    eventIndex: 0,
  });
  const late = sessions.appendEvent(session, saying('late'), {
    session: numberOf(session),
    runId: `${session.id}-r`,
    fencingToken: 6,
    eventIndex: 1,
  });

  await expect(late).rejects.toMatchObject({ code: 'session_changed' });
  expect(textsOf((await other.getSession(keyOf(session)))!)).toEqual(['mine']);
});

it('returns what is stored for a step rather than storing another', async () => {
  const session = await owned(1);
  const fencing = { session: numberOf(session), runId: `${session.id}-r`, fencingToken: 1, eventIndex: 0 };
  const first = await sessions.appendEvent(session, saying('first', { count: 1 }), fencing);

  const again = await other.appendEvent((await other.getSession(keyOf(session)))!, saying('second'), fencing);

  expect(again).toEqual(first);
  expect(textsOf((await sessions.getSession(keyOf(session)))!)).toEqual(['first']);
});

it('stores one event when a step is appended many times at once', async () => {
  const session = await owned(1);
  const fencing = { session: numberOf(session), runId: `${session.id}-r`, fencingToken: 1, eventIndex: 0 };

  const appends = Array.from({ length: 10 }, (_, index) =>
    (index % 2 ? sessions : other).appendEvent({ ...session, events: [] }, saying(`${index}`), fencing),
  );
  const stored = await Promise.all(appends);

  expect(new Set(stored.map(({ id }) => id)).size).toBe(1);
  expect((await sessions.getSession(keyOf(session)))?.events).toHaveLength(1);
});

it('says that the session is gone rather than that another owns it', async () => {
  const session = await owned(1);
  await sessions.deleteSession(keyOf(session));

  const late = sessions.appendEvent(session, saying('late'), {
    session: numberOf(session),
    runId: 'r',
    fencingToken: 1,
    eventIndex: 0,
  });

  await expect(late).rejects.toMatchObject({ code: 'session_not_found' });
});

it('gives appends of two servers one order, and each of them all events', async () => {
  const session = await sessions.createSession(freshOwner());
  const key = keyOf(session);

  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const store = index % 2 ? sessions : other;
      await store.appendEvent((await store.getSession(key))!, saying(`${index}`, { [`k${index}`]: index }));
    }),
  );

  const [one, two] = [(await sessions.getSession(key))!, (await other.getSession(key))!];
  expect(one.events).toHaveLength(40);
  expect(two).toEqual(one);
  expect(Object.keys(one.state)).toHaveLength(40);
});

it('keeps what PostgreSQL cannot hold in JSON: U+0000, lone surrogates, and the sign that stands for them', async () => {
  const session = await sessions.createSession(freshOwner());
  const odd = 'a\u0000b \ud800 \udc00 \uf8ff0000 \\u0000 👋';
  await sessions.appendEvent(session, saying(odd, { [odd]: odd, [`app:${odd}`]: odd, gone: 1 }));
  await sessions.appendEvent(session, saying('x', { gone: null }));

  const stored = await other.getSession(keyOf(session));

  expect(stored?.events[0]?.content?.parts[0]?.text).toBe(odd);
  expect(stored?.state).toEqual({ [odd]: odd, [`app:${odd}`]: odd });
  await sessions.appendEvent(session, saying('x', { [odd]: null, [`app:${odd}`]: null }));
  expect((await other.getSession(keyOf(session)))?.state).toEqual({});
});

it('says when an id is too long for the database', async () => {
  const creation = sessions.createSession(freshOwner(), { sessionId: 'x'.repeat(192) });

  await expect(creation).rejects.toMatchObject({ code: 'invalid_name' });
});
