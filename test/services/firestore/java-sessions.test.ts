import { expect, it } from 'vitest';
import { importSessions } from '../../../src/services/archive.ts';
import type { FirestoreDatabase } from '../../../src/services/firestore/database.ts';
import { javaSessions, parseJavaPlace } from '../../../src/services/firestore/java-sessions.ts';
import { InMemoryMemories } from '../../../src/services/memories/in-memory.ts';
import { InMemorySessions } from '../../../src/services/sessions/in-memory.ts';
import { firestoreForTests } from '../../support/firestore.ts';

const firestore = firestoreForTests();

/** Writes as ADK for Java does. Nothing is written for the users themselves. */
async function fill(database: FirestoreDatabase, root: string): Promise<void> {
  await database.run(async ({ db }) => {
    const sessions = db.collection(root).doc('ada').collection('sessions');
    const session = { appName: 'app', userId: 'ada', updateTime: '2026-01-01T10:00:01Z' };
    await sessions.doc('s1').set({ ...session, id: 's1', state: { mood: 'blue', list: [1, { a: null }] } });
    await sessions.doc('s2').set({ ...session, id: 's2', state: {} });
    const events = sessions.doc('s1').collection('user-event');
    for (let index = 0; index < 250; index += 1) {
      const timestamp = new Date(Date.UTC(2026, 0, 1, 9, 0, index)).toISOString();
      const content = { parts: [{ text: `tea ${index}` }] };
      await events
        .doc()
        .set({ ...session, author: index % 2 ? 'waiter' : 'ada', timestamp, keywords: ['tea'], content });
    }
    await db.collection('app-state').doc('app').set({ theme: 'dark' });
    await db.collection('user-state').doc('app').collection('users').doc('ada').set({ _user_lang: 'de' });
  });
}

it('brings what ADK for Java has stored into another store, once', async () => {
  const database = firestore.open();
  const root = `test-${crypto.randomUUID()}`;
  await fill(database, root);
  const [sessions, memories] = [new InMemorySessions(), new InMemoryMemories()];

  const done = await importSessions(javaSessions(database, root), sessions, memories);
  const again = await importSessions(javaSessions(database, root), sessions, memories);

  expect([done.sessions, done.skipped.length, again.sessions, again.skipped.length]).toEqual([2, 0, 0, 2]);
  const session = await sessions.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' });
  expect(session?.state).toEqual({ mood: 'blue', list: [1, { a: null }], 'app:theme': 'dark', 'user:lang': 'de' });
  expect(session?.events.map(({ content }) => content?.parts[0]?.text)).toEqual(
    Array.from({ length: 250 }, (_, index) => `tea ${index}`),
  );
  expect(await memories.searchMemory({ appName: 'app', userId: 'ada' }, '249')).toMatchObject([{ author: 'waiter' }]);
  await database.close();
});

it('reads where to import from', () => {
  const usual = { project: 'my-project', database: '(default)', prefix: 'adk-session' };
  expect(parseJavaPlace('firestore-adk://my-project')).toEqual(usual);
  expect(parseJavaPlace('firestore-adk://my-project/eu?root=talks')).toEqual({
    ...usual,
    database: 'eu',
    prefix: 'talks',
  });
  for (const text of ['firestore://my-project', 'firestore-adk:', 'firestore-adk://p1?speed=high', 'all.jsonl']) {
    expect(() => parseJavaPlace(text)).toThrow(/must be firestore-adk:\/\/PROJECT/);
  }
});
