import { afterEach, describe, expect, it } from 'vitest';
import type { MemoryService } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
import { keyOf, type Session, type SessionOwner } from '../../schemas/session.ts';
import { freshOwner, saying } from './events.ts';
import { because, type MemoryExceptions } from './promises.ts';

const sessionOf = (owner: SessionOwner, events: Event[], id = 's1'): Session => ({
  ...owner,
  id,
  events,
  state: {},
  lastUpdateTime: 0,
});

/**
 * What every memory with word search promises. `open` is called for each test and may open a shared store. `exceptions` are
 * promises the memory does not make.
 */
export function memoryServiceContract(
  name: string,
  open: () => MemoryService | Promise<MemoryService>,
  exceptions: MemoryExceptions = {},
): void {
  describe(`${name} as a memory service`, () => {
    const opened: MemoryService[] = [];
    const start = async (): Promise<MemoryService> => {
      const service = await open();
      opened.push(service);
      return service;
    };
    afterEach(async () => {
      for (const service of opened.splice(0)) await service.close?.();
    });
    finding(start, exceptions);
    keeping(start, exceptions);
  });
}

type Start = () => Promise<MemoryService>;

const found = async (memories: MemoryService, owner: SessionOwner, query: string): Promise<(string | undefined)[]> =>
  (await memories.searchMemory(owner, query)).map(({ content }) => content.parts[0]?.text);

function finding(start: Start, { words, messages }: MemoryExceptions): void {
  const exact = words ?? messages;

  it.skipIf(exact !== undefined)(
    `finds messages that hold any word of the query, whatever the case${because(exact)}`,
    async () => {
      const memories = await start();
      const owner = freshOwner();
      const lines = ['The Eiffel Tower is in Paris.', 'Rome, not far away', 'nothing to see'];
      await memories.addSessionToMemory(
        sessionOf(
          owner,
          lines.map((line) => saying(line)),
        ),
      );

      expect(await found(memories, owner, 'PARIS')).toEqual([lines[0]]);
      expect(await found(memories, owner, 'paris? rome!')).toEqual([lines[0], lines[1]]);
      expect(await found(memories, owner, 'par')).toEqual([]);
      expect(await found(memories, owner, '')).toEqual([]);
      expect(await found(memories, owner, '?! ...')).toEqual([]);
    },
  );

  it.skipIf(exact !== undefined)(`finds words of any script, and digits${because(exact)}`, async () => {
    const memories = await start();
    const owner = freshOwner();
    const lines = ['Сегодня идёт дождь', 'Größe 42', 'γειά σου', 'हिन्दी भाषा', '東京 タワー', 'Cafe\u0301'];
    await memories.addSessionToMemory(
      sessionOf(
        owner,
        lines.map((line) => saying(line)),
      ),
    );

    const cases: [string | undefined, string][] = [
      [lines[0], 'ДОЖДЬ'],
      [lines[1], '42'],
      [lines[1], 'größe'],
      [lines[2], 'σου'],
      [lines[3], 'हिन्दी'],
      [lines[4], 'タワー'],
      [lines[5], 'café'],
    ];
    for (const [line, word] of cases) {
      expect(await found(memories, owner, word)).toEqual([line]);
    }
  });

  it.skipIf(messages !== undefined)(`answers oldest first, across sessions${because(messages)}`, async () => {
    const memories = await start();
    const owner = freshOwner();
    await memories.addSessionToMemory(sessionOf(owner, [saying('tea at 30', {}, { timestamp: 30 })], 'a'));
    await memories.addSessionToMemory(
      sessionOf(
        owner,
        [10, 50].map((timestamp) => saying(`tea at ${timestamp}`, {}, { timestamp })),
        'b',
      ),
    );

    expect(await found(memories, owner, 'tea')).toEqual(['tea at 10', 'tea at 30', 'tea at 50']);
  });

  it.skipIf(messages !== undefined)(`hands out who said what and when${because(messages)}`, async () => {
    const memories = await start();
    const owner = freshOwner();
    const event = saying('tea', {}, { timestamp: 1_700_000_000.5, author: 'user' });
    await memories.addSessionToMemory(sessionOf(owner, [event]));

    const [entry] = await memories.searchMemory(owner, 'tea');

    expect(entry).toMatchObject({ author: 'user', content: event.content, timestamp: '2023-11-14T22:13:20.500Z' });
  });
}

function keeping(start: Start, { messages }: MemoryExceptions): void {
  it.skipIf(messages !== undefined)(`replaces what it held of a session${because(messages)}`, async () => {
    const memories = await start();
    const owner = freshOwner();
    const first = saying('tea please');
    await memories.addSessionToMemory(sessionOf(owner, [first]));

    await memories.addSessionToMemory(sessionOf(owner, [first, saying('more tea')]));
    expect(await found(memories, owner, 'tea')).toEqual(['tea please', 'more tea']);

    await memories.addSessionToMemory(sessionOf(owner, [saying('coffee')]));
    // Who finds by similarity may find coffee.
    expect((await found(memories, owner, 'tea')).filter((text) => text !== 'coffee')).toEqual([]);
  });

  it.skipIf(messages !== undefined)(
    `takes messages without text, and thoughts, without finding them${because(messages)}`,
    async () => {
      const memories = await start();
      const owner = freshOwner();
      const call = { role: 'model', parts: [{ functionCall: { name: 'tea' } }] };
      const thought = { role: 'model', parts: [{ text: 'tea?', thought: true }] };
      const events = [saying('', {}, { content: call }), saying('', {}, { content: thought }), saying('tea')];
      await memories.addSessionToMemory(sessionOf(owner, [...events, { ...saying(''), content: undefined }]));

      expect(await found(memories, owner, 'tea')).toEqual(['tea']);
    },
  );

  it('remembers for one user of one app only', async () => {
    const memories = await start();
    const owner = freshOwner();
    await memories.addSessionToMemory(sessionOf(owner, [saying('tea')]));

    expect(await found(memories, { ...owner, userId: 'bob' }, 'tea')).toEqual([]);
    expect(await found(memories, { ...freshOwner(), userId: owner.userId }, 'tea')).toEqual([]);
  });

  it.skipIf(messages !== undefined)(`forgets a deleted session${because(messages)}`, async () => {
    const memories = await start();
    const owner = freshOwner();
    const session = sessionOf(owner, [saying('tea')]);
    await memories.addSessionToMemory(session);
    await memories.addSessionToMemory(sessionOf(owner, [saying('tea two')], 's2'));

    await memories.deleteSessionMemory(keyOf(session));
    await memories.deleteSessionMemory(keyOf(session));

    expect(await found(memories, owner, 'tea')).toEqual(['tea two']);
  });

  it.skipIf(messages !== undefined)(`survives times that no calendar holds${because(messages)}`, async () => {
    const memories = await start();
    const owner = freshOwner();
    await memories.addSessionToMemory(sessionOf(owner, [saying('tea', {}, { timestamp: -1e300 })]));

    expect(await found(memories, owner, 'tea')).toEqual(['tea']);
  });
}
