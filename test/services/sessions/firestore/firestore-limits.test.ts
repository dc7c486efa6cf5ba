import { randomUUID } from 'node:crypto';
import { afterAll, expect, it, vi } from 'vitest';
import { keyOf } from '../../../../src/schemas/session.ts';
import { FirestoreDatabase } from '../../../../src/services/firestore/database.ts';
import { FirestoreSessionTables } from '../../../../src/services/sessions/firestore/firestore.ts';
import { SqlSessions } from '../../../../src/services/sessions/sql-sessions.ts';
import { freshOwner, saying } from '../../../../src/testing/contracts/events.ts';
import { firestoreForTests, isRealFirestore } from '../../../support/firestore.ts';

const firestore = firestoreForTests();
const prefix = `test-${randomUUID()}`;
const database = new Map<string, SqlSessions>();
const sessions = (): SqlSessions => {
  const known = database.get(prefix) ?? new SqlSessions(new FirestoreSessionTables(firestore.open(prefix)));
  database.set(prefix, known);
  return known;
};
afterAll(async () => {
  await database.get(prefix)?.close();
});
const large = 'Größe 世界 👋 '.repeat(150_000);

it('keeps events of any size, appended and imported', async () => {
  const owner = freshOwner();
  const imported = [saying(large), ...Array.from({ length: 12 }, () => saying('x'.repeat(850_000)))];
  const session = await sessions().createSession(owner, { sessionId: 's1', events: imported });
  const event = saying(`${large}!`);

  await sessions().appendEvent(session, event);

  const reader = new SqlSessions(new FirestoreSessionTables(firestore.open(prefix)));
  expect((await reader.getSession(keyOf(session)))?.events).toEqual([...imported, event]);
  await reader.close();
});

it('refuses a state larger than a document, and stores nothing of it', async () => {
  const session = await sessions().createSession(freshOwner(), { state: { half: 'x'.repeat(600_000) } });
  const refused = { code: 'too_large' };

  const whole = { whole: 'x'.repeat(1_100_000) };
  await expect(sessions().createSession(freshOwner(), { state: whole })).rejects.toMatchObject(refused);
  await expect(sessions().appendEvent(session, saying('whole', whole))).rejects.toMatchObject(refused);
  const other = { other: 'x'.repeat(600_000) };
  await expect(sessions().appendEvent(session, saying('other', other))).rejects.toMatchObject(refused);
  const named = { ['n'.repeat(1500)]: 1 };
  await expect(sessions().appendEvent(session, saying('named', named))).rejects.toMatchObject(refused);

  const stored = await sessions().getSession(keyOf(session));
  expect(stored?.events).toEqual([]);
  expect(Object.keys(stored!.state)).toEqual(['half']);
});

it('keeps a state whose keys are no names of fields', async () => {
  const state = { 'a.b`c\\': 1, '': 2, __name__: 3, '\ud800': 4, 'user:\u{1f44b}.': [[1], [[2]]], 'app:`': null };
  const session = await sessions().createSession(freshOwner(), { state });
  await sessions().appendEvent(session, saying('less', { 'a.b`c\\': null, '': { deep: [] } }));

  expect((await sessions().getSession(keyOf(session)))?.state).toEqual({
    '': { deep: [] },
    __name__: 3,
    '\ud800': 4,
    'user:\u{1f44b}.': [[1], [[2]]],
  });
});

it.skipIf(isRealFirestore)('leaves nothing of a deleted session (looked up in the double)', async () => {
  const { documents } = firestore.double;
  const before = new Set(documents.keys());
  const session = await sessions().createSession(freshOwner(), { events: [saying(large), saying('small')] });
  await sessions().appendEvent(session, saying(large));

  await sessions().deleteSession(keyOf(session));

  expect([...documents.keys()].filter((name) => !before.has(name))).toEqual([]);
});

it.skipIf(isRealFirestore)('deletes histories that others left behind an hour ago (put into the double)', async () => {
  const at = (path: string): string => `projects/test/databases/(default)/documents/${prefix}_${path}`;
  const abandoned = Date.now() - 4_000_000;
  firestore.double.keep(`${prefix}_garbage/old`, { since: { integerValue: String(abandoned) } });
  firestore.double.keep(`${prefix}_garbage/new`, { since: { integerValue: String(Date.now()) } });
  firestore.double.keep(`${prefix}_histories/old/events/e`, { seq: { integerValue: '1' } });
  firestore.double.keep(`${prefix}_histories/new/events/e`, { seq: { integerValue: '1' } });

  await sessions().outdatedSessions({ maxSessions: 1000 }, 10);

  const { documents } = firestore.double;
  expect([documents.has(at('garbage/old')), documents.has(at('histories/old/events/e'))]).toEqual([false, false]);
  expect([documents.has(at('garbage/new')), documents.has(at('histories/new/events/e'))]).toEqual([true, true]);
});

it('says what is missing when there is no credential', async () => {
  const host = process.env['FIRESTORE_EMULATOR_HOST'];
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', undefined);
  const lost = new FirestoreDatabase({ project: 'p', database: 'd', prefix: 'x' });

  await expect(lost.check()).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The Firestore database "p/d" needs a Google credential',
  });
  await lost.close();
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', host);
});
