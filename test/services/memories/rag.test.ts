import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyOf, type Session } from '../../../src/schemas/session.ts';
import { RagMemories } from '../../../src/services/memories/rag.ts';
import { VertexApi } from '../../../src/services/vertex/vertex-api.ts';
import { freshOwner, saying } from '../../../src/testing/contracts/events.ts';
import { memoryServiceContract } from '../../../src/testing/contracts/memories.ts';
import { cloudToken } from '../../../src/tools/auth/machine-token.ts';
import { ragDouble } from '../../support/memory-doubles.ts';

// The REST API against a double; the contract against a real corpus with TEST_RAG_CORPUS=projects/…/ragCorpora/ID.
const real = process.env['TEST_RAG_CORPUS'];
if (real === undefined) console.info('RAG corpus: a local double; TEST_RAG_CORPUS names a real one');
const double = ragDouble();
beforeAll(() => double.start());
afterAll(() => double.close());
const open = (id = '1'): RagMemories => {
  const resource = `projects/p/locations/eu/ragCorpora/${id}`;
  return new RagMemories(new VertexApi({ project: 'p', location: 'eu', resource }, { baseUrl: double.url }));
};
const openReal = (resource: string): RagMemories => {
  const [, project = '', , location = ''] = resource.split('/');
  return new RagMemories(new VertexApi({ project, location, resource }, { token: cloudToken() }));
};
const sessionOf = (texts: readonly string[], owner = freshOwner(), id = 's1'): Session => {
  const events = texts.map((text, index) => saying(text, {}, { timestamp: 1000 + index }));
  return { ...owner, id, events, state: {}, lastUpdateTime: 0 };
};
const found = async (memories: RagMemories, session: Session, query: string): Promise<(string | undefined)[]> =>
  (await memories.searchMemory(session, query)).map(({ content }) => content.parts[0]?.text);

memoryServiceContract('RAG corpus', () => (real === undefined ? open() : openReal(real)), {
  words: 'a corpus finds pieces of files by similarity',
});

it('puts pieces of a session together, each message once', async () => {
  const memories = open();
  const texts = Array.from({ length: 30 }, (_, index) => `tea number ${index}`);
  const session = sessionOf(texts);
  await memories.addSessionToMemory(session);

  expect(await found(memories, session, 'tea')).toEqual(texts);
});

it('keeps users apart whose names look alike when they are put together', async () => {
  const memories = open();
  const { appName } = freshOwner();
  const mine = sessionOf(['my tea'], { appName: `${appName}.a`, userId: 'b' });
  const theirs = sessionOf(['their tea'], { appName, userId: 'a.b' });
  await memories.addSessionToMemory(mine);
  await memories.addSessionToMemory(theirs);

  expect(await found(memories, mine, 'tea')).toEqual(['my tea']);
  expect(await found(memories, theirs, 'tea')).toEqual(['their tea']);
});

it('finds what older servers wrote, and their lines that were cut', async () => {
  const session = sessionOf([]);
  const line = JSON.stringify({ author: 'user', timestamp: 5, text: 'old tea' });
  double.keep(
    'projects/p/locations/eu/ragCorpora/1/ragFiles/old',
    Buffer.from(`tea"}\n${line}\n{"text":"cut tea`),
    'a/b',
    {
      displayName: `${session.appName}.ada.s9`,
    },
  );

  expect(await open().searchMemory(session, 'tea')).toEqual([
    { author: 'user', content: { role: 'user', parts: [{ text: 'old tea' }] }, timestamp: '1970-01-01T00:00:05.000Z' },
  ]);
});

it('leaves what it held when the corpus does not take the session, and says so', async () => {
  const memories = open();
  const owner = freshOwner();
  const session = sessionOf(['tea'], owner);
  await memories.addSessionToMemory(session);

  const refused = memories.addSessionToMemory(sessionOf(['tea and poison'], owner));

  await expect(refused).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('cannot be read'),
  });
  expect(await found(memories, session, 'tea')).toEqual(['tea']);
  await memories.deleteSessionMemory(keyOf(session));
  expect(await found(memories, session, 'tea')).toEqual([]);
});

it('says that a corpus does not exist', async () => {
  await expect(open('missing').check()).rejects.toMatchObject({ message: expect.stringContaining('does not exist') });
  await open().check();
});
