import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import { textContent } from '../../../src/schemas/content.ts';
import type { Session } from '../../../src/schemas/session.ts';
import { InMemoryMemories } from '../../../src/services/memories/in-memory.ts';
import { memoryServiceContract } from '../../../src/testing/contracts/memories.ts';

memoryServiceContract('InMemoryMemories', () => new InMemoryMemories());

it('refuses what would go beyond its bytes, and gives back what is deleted', async () => {
  const memories = new InMemoryMemories({ maxBytes: 3_000 });
  const session = (id: string): Session => ({
    id,
    appName: 'a',
    userId: 'u',
    state: {},
    events: [newEvent({ invocationId: 'e' }, 'user', { content: textContent('user', 'word '.repeat(400)) })],
    lastUpdateTime: 0,
  });
  await memories.addSessionToMemory(session('one'));
  await memories.addSessionToMemory(session('one'));

  await expect(memories.addSessionToMemory(session('two'))).rejects.toMatchObject({ code: 'storage_full' });
  await memories.deleteSessionMemory({ appName: 'a', userId: 'u', sessionId: 'one' });
  await memories.addSessionToMemory(session('two'));
  expect(await memories.searchMemory({ appName: 'a', userId: 'u' }, 'word')).toHaveLength(1);
});
