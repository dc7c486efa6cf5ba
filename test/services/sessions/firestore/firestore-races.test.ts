import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { keyOf, type Session } from '../../../../src/schemas/session.ts';
import { FirestoreSessionTables } from '../../../../src/services/sessions/firestore/firestore.ts';
import { SqlSessions } from '../../../../src/services/sessions/sql-sessions.ts';
import { freshOwner, saying } from '../../../../src/testing/contracts/events.ts';
import { firestoreForTests, isRealFirestore } from '../../../support/firestore.ts';

const firestore = firestoreForTests();
const opened: SqlSessions[] = [];
/** Servers that share a database. */
const servers = (count: number): SqlSessions[] => {
  const made = Array.from({ length: count }, () => new SqlSessions(new FirestoreSessionTables(firestore.open())));
  opened.push(...made);
  return made;
};
afterEach(async () => {
  if (!isRealFirestore) firestore.double.beforeCommit = undefined;
  for (const sessions of opened.splice(0)) await sessions.close();
});
const textsOf = (session: Session | undefined): (string | undefined)[] =>
  (session?.events ?? []).map(({ content }) => content?.parts[0]?.text);
/** Commits that wait a while let others come in between. */
const mixUp = (): void => {
  if (!isRealFirestore) firestore.double.beforeCommit = () => pause(Math.random() * 5);
};

it('stores each of the events that several servers append at the same time once, and counts them without gaps', async () => {
  const stores = servers(3);
  const session = await stores[0]!.createSession(freshOwner());
  mixUp();

  const appends = Array.from({ length: 45 }, (_, index) =>
    stores[index % 3]!.appendEvent(structuredClone(session), saying(`${index}`, { [`key${index}`]: index })),
  );
  await Promise.all(appends);

  const stored = await stores[1]!.getSession(keyOf(session));
  expect(new Set(textsOf(stored))).toEqual(new Set(Array.from({ length: 45 }, (_, index) => `${index}`)));
  expect(stored?.events).toHaveLength(45);
  expect(Object.keys(stored!.state)).toHaveLength(45);
  expect((await stores[2]!.listEvents(keyOf(session), { pageSize: 100 })).events).toEqual(stored!.events);
});

it('keeps what each server writes to the shared states', async () => {
  const stores = servers(2);
  const owner = freshOwner();
  const sessions = await Promise.all(stores.map((store) => store.createSession(owner)));
  mixUp();

  const appends = Array.from({ length: 20 }, (_, index) =>
    stores[index % 2]!.appendEvent(sessions[index % 2]!, saying('x', { [`app:a${index}`]: 1, [`user:u${index}`]: 2 })),
  );
  await Promise.all(appends);

  const { state } = (await stores[0]!.getSession(keyOf(sessions[0]!)))!;
  expect(Object.keys(state)).toHaveLength(40);
});

it('lets one of the servers that create a session win, with its events', async () => {
  const stores = servers(4);
  const owner = freshOwner();
  mixUp();

  const outcomes = await Promise.allSettled(
    stores.map((store, index) =>
      store.createSession(owner, { sessionId: 's1', events: [saying(`of ${index}`)], state: { winner: index } }),
    ),
  );

  const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(lost.map(({ reason }) => (reason as { code: string }).code)).toEqual(Array(3).fill('session_exists'));
  const stored = await stores[0]!.getSession({ ...owner, sessionId: 's1' });
  expect([stored?.state, textsOf(stored)]).toEqual([{ winner: won }, [`of ${won}`]]);
});

it('stores one of two events of the same id', async () => {
  const [one, other] = servers(2);
  const session = await one!.createSession(freshOwner());
  mixUp();

  const outcomes = await Promise.allSettled(
    [one!, other!].map((store, index) =>
      store.appendEvent(structuredClone(session), saying(`${index}`, {}, { id: 'same' })),
    ),
  );

  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await one!.getSession(keyOf(session)))?.events).toHaveLength(1);
});

it('appends to the session that is there now, when another server has made it anew', async () => {
  const [one, other] = servers(2);
  const owner = freshOwner();
  const session = await one!.createSession(owner, { sessionId: 's1' });
  await one!.appendEvent(session, saying('before'));
  await other!.deleteSession(keyOf(session));

  await expect(one!.appendEvent(session, saying('gone'))).rejects.toMatchObject({ code: 'session_not_found' });
  const anew = await other!.createSession(owner, { sessionId: 's1' });
  await one!.appendEvent(anew, saying('after'));

  expect(textsOf(await other!.getSession(keyOf(session)))).toEqual(['after']);
});

describe.skipIf(isRealFirestore)('With a double (a real database cannot be told to fail)', () => {
  it('stores an event once when the answer is lost', async () => {
    const [sessions] = servers(1);
    const session = await sessions!.createSession(freshOwner());

    firestore.double.lostAnswers = 1;
    await sessions!.appendEvent(session, saying('first', { count: 1 }));
    firestore.double.lostAnswers = 3;
    await sessions!.appendEvent(session, saying('second', { count: 2 }));

    const stored = await sessions!.getSession(keyOf(session));
    expect([textsOf(stored), stored?.state]).toEqual([['first', 'second'], { count: 2 }]);
  });

  it('takes a session for created whose answer was lost', async () => {
    const [sessions] = servers(1);
    firestore.double.lostAnswers = 1;

    const session = await sessions!.createSession(freshOwner(), { state: { a: 1 } });

    expect((await sessions!.getSession(keyOf(session)))?.state).toEqual({ a: 1 });
  });

  it('goes on when the database gives up on commits that are in each other’s way', async () => {
    const [sessions] = servers(1);
    firestore.double.contention = 2;
    const session = await sessions!.createSession(freshOwner());
    firestore.double.contention = 3;

    await sessions!.appendEvent(session, saying('through'));

    expect(textsOf(await sessions!.getSession(keyOf(session)))).toEqual(['through']);
  });

  it('says that it is unavailable, and serves again as soon as the database does', async () => {
    const [sessions] = servers(1);
    const session = await sessions!.createSession(freshOwner());

    firestore.double.outage = 503;
    try {
      const failed = { code: 'unavailable', retryAfter: 2 };
      await expect(sessions!.getSession(keyOf(session))).rejects.toMatchObject(failed);
      await expect(sessions!.check()).rejects.toMatchObject({ message: expect.stringContaining('cannot be reached') });
      await expect(sessions!.appendEvent(session, saying('lost'))).rejects.toMatchObject(failed);
      firestore.double.outage = 403;
      await expect(sessions!.check()).rejects.toMatchObject({ message: expect.stringContaining('refuses the server') });
      firestore.double.outage = 404;
      const missing = { code: 'unavailable', message: 'There is no Firestore database "test/(default)"' };
      await expect(sessions!.check()).rejects.toMatchObject(missing);
      await expect(sessions!.createSession(freshOwner())).rejects.toMatchObject(missing);
    } finally {
      firestore.double.outage = undefined;
    }
    await sessions!.appendEvent(session, saying('found'));

    expect(textsOf(await sessions!.getSession(keyOf(session)))).toEqual(['found']);
  });
});
