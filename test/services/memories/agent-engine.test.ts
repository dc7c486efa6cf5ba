import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Session } from '../../../src/schemas/session.ts';
import { AgentEngineMemories } from '../../../src/services/memories/agent-engine.ts';
import { VertexApi } from '../../../src/services/vertex/vertex-api.ts';
import { freshOwner, saying } from '../../../src/testing/contracts/events.ts';
import { memoryServiceContract } from '../../../src/testing/contracts/memories.ts';
import { cloudToken } from '../../../src/tools/auth/machine-token.ts';
import { memoryBankDouble } from '../../support/memory-doubles.ts';

// The REST API against a double; the contract against a real bank with TEST_MEMORY_BANK=projects/…/reasoningEngines/ID.
const real = process.env['TEST_MEMORY_BANK'];
if (real === undefined) console.info('Memory bank: a local double; TEST_MEMORY_BANK names a real one');
let double: Awaited<ReturnType<typeof memoryBankDouble>>;
beforeAll(async () => {
  double = await memoryBankDouble();
});
afterAll(() => double.close());
const open = (id = '1'): AgentEngineMemories => {
  const resource = `projects/p/locations/eu/reasoningEngines/${id}`;
  return new AgentEngineMemories(new VertexApi({ project: 'p', location: 'eu', resource }, { baseUrl: double.url }));
};
const openReal = (resource: string): AgentEngineMemories => {
  const [, project = '', , location = ''] = resource.split('/');
  return new AgentEngineMemories(new VertexApi({ project, location, resource }, { token: cloudToken() }));
};
const sessionOf = (events: Session['events'], owner = freshOwner()): Session => ({
  ...owner,
  id: 's1',
  events,
  state: {},
  lastUpdateTime: 0,
});

memoryServiceContract('Memory bank', () => (real === undefined ? open() : openReal(real)), {
  words: 'the bank finds by similarity',
  messages: 'the bank keeps facts it makes of messages',
});

it('tells the bank what was said and shown, and finds facts, the nearest first', async () => {
  const memories = open();
  const call = { role: 'model', parts: [{ functionCall: { name: 'tea' } }] };
  const image = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] };
  const thought = { role: 'model', parts: [{ text: 'tea?', thought: true }, { text: 'Green tea' }] };
  const events = [saying('Black coffee'), saying('', {}, { content: call }), saying('', {}, { content: image })];
  const session = sessionOf([...events, saying('', {}, { content: thought }), saying('tea with milk, green')]);
  double.forget();

  await memories.addSessionToMemory(session);
  const found = await memories.searchMemory(session, 'tea with milk');

  expect(double.requests[0]?.body).toEqual({
    directContentsSource: {
      events: [
        { content: { role: 'model', parts: [{ text: 'Black coffee' }] } },
        { content: image },
        { content: { role: 'model', parts: [{ text: 'Green tea' }] } },
        { content: { role: 'model', parts: [{ text: 'tea with milk, green' }] } },
      ],
    },
    scope: { app_name: session.appName, user_id: 'ada' },
  });
  expect(double.requests[0]?.headers).toMatchObject({ 'x-goog-user-project': 'p', authorization: 'Bearer owner' });
  expect(found.map(({ content }) => content.parts[0]?.text)).toEqual([
    'The user heard: tea with milk, green',
    'The user heard: Green tea',
  ]);
  expect(found[0]).toMatchObject({ author: 'user', timestamp: '2026-01-01T10:00:00Z', content: { role: 'user' } });
  expect(await memories.searchMemory(session, ' ')).toEqual([]);
});

it('keeps names with asterisks apart, which the bank does not take', async () => {
  const memories = open();
  const { appName } = freshOwner();
  await memories.addSessionToMemory(sessionOf([saying('tea')], { appName, userId: 'a*' }));

  expect(await memories.searchMemory({ appName, userId: 'a*' }, 'tea')).toHaveLength(1);
  expect(await memories.searchMemory({ appName, userId: 'a%2A' }, 'tea')).toEqual([]);
});

it('says that an engine does not exist', async () => {
  const missing = { code: 'unavailable', message: expect.stringContaining('does not exist') };
  await expect(open('missing').check()).rejects.toMatchObject(missing);
  await expect(open('missing').searchMemory(freshOwner(), 'tea')).rejects.toMatchObject(missing);
  await open().check();
});
