import { afterEach, expect, it } from 'vitest';
import type { Session } from '../../../src/schemas/session.ts';
import { FirestoreMemories } from '../../../src/services/memories/firestore.ts';
import { freshOwner, saying } from '../../../src/testing/contracts/events.ts';
import { memoryServiceContract } from '../../../src/testing/contracts/memories.ts';
import { firestoreForTests, isRealFirestore } from '../../support/firestore.ts';

const firestore = firestoreForTests();
const opened: FirestoreMemories[] = [];
const open = (): FirestoreMemories => {
  const memories = new FirestoreMemories(firestore.open());
  opened.push(memories);
  return memories;
};
afterEach(async () => {
  for (const memories of opened.splice(0)) await memories.close();
});
const sessionOf = (texts: readonly string[]): Session => {
  const events = texts.map((text) => saying(text));
  return { ...freshOwner(), id: 's1', events, state: {}, lastUpdateTime: 0 };
};
const found = async (memories: FirestoreMemories, session: Session, query: string): Promise<(string | undefined)[]> =>
  (await memories.searchMemory(session, query)).map(({ content }) => content.parts[0]?.text);

memoryServiceContract('Firestore', () => new FirestoreMemories(firestore.open()));

it('finds a message by any of very many words, also with a question of very many words', async () => {
  const memories = open();
  const words = Array.from({ length: 9000 }, (_, index) => `word${index}`);
  const session = sessionOf([words.join(' '), 'x'.repeat(1_500_000), 'short']);
  await memories.addSessionToMemory(session);

  expect(await found(memories, session, 'word0 word8999')).toEqual([words.join(' ')]);
  expect(await found(memories, session, words.slice(0, 100).join(' '))).toEqual([words.join(' ')]);
  expect((await found(memories, session, 'x'.repeat(1_500_000)))[0]).toHaveLength(1_500_000);
});

it('keeps one whole account of a session that several servers remember at once', async () => {
  const [one, other] = [open(), open()];
  const session = sessionOf(['tea one', 'tea two']);
  const later = { ...session, events: [...session.events, saying('tea three')] };

  await Promise.all(
    [one, other, one, other].map((memories, index) => memories.addSessionToMemory(index ? later : session)),
  );

  const texts = await found(other, session, 'tea');
  expect([2, 3]).toContain(texts.length);
  expect(texts).toEqual(['tea one', 'tea two', 'tea three'].slice(0, texts.length));
});

it.skipIf(isRealFirestore)('leaves nothing of what it forgets or replaces (looked up in the double)', async () => {
  const memories = open();
  const { documents } = firestore.double;
  const before = new Set(documents.keys());
  const session = sessionOf(['tea', 'x'.repeat(1_000_000)]);
  const key = { appName: session.appName, userId: session.userId, sessionId: 's1' };
  await memories.addSessionToMemory(session);
  const once = documents.size;

  await memories.addSessionToMemory(session);
  expect(documents.size).toBe(once);
  await memories.deleteSessionMemory(key);

  expect([...documents.keys()].filter((name) => !before.has(name))).toEqual([]);
});
