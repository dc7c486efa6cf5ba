import { expect, it } from 'vitest';
import { HandoverInput } from '../../../src/agents/live/handover-input.ts';
import type { LiveInput } from '../../../src/core/model.ts';

const say = (text: string): LiveInput => ({ kind: 'content', content: { role: 'user', parts: [{ text }] } });

/** A source that gives what it is told, when it is told. */
function source() {
  const waiting: PromiseWithResolvers<IteratorResult<LiveInput>>[] = [];
  let returned = 0;
  return {
    input: {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const one = Promise.withResolvers<IteratorResult<LiveInput>>();
          waiting.push(one);
          return one.promise;
        },
        return: async () => {
          returned += 1;
          return { done: true as const, value: undefined };
        },
      }),
    },
    give: (text: string) => waiting.shift()?.resolve({ done: false, value: say(text) }),
    end: () => waiting.shift()?.resolve({ done: true, value: undefined }),
    fail: (error: Error) => waiting.shift()?.reject(error),
    returned: () => returned,
    asked: () => waiting.length,
  };
}

it('keeps what comes after its reader stopped waiting for the next reader', async () => {
  const { input, give, end } = source();
  const shared = HandoverInput.of(input);
  const first = shared.next();

  shared.interrupt();
  expect(await first).toBeUndefined();
  expect(shared.hasEnded).toBe(false);
  give('late');
  await Promise.resolve();
  expect(await shared.next()).toEqual(say('late'));
  const last = shared.next();
  end();

  expect(await last).toBeUndefined();
  expect(shared.hasEnded).toBe(true);
});

it('asks its source for one thing at a time, however often a reader is interrupted', async () => {
  const { input, asked } = source();
  const shared = HandoverInput.of(input);

  for (let round = 0; round < 5; round += 1) {
    void shared.next();
    shared.interrupt();
  }

  expect(asked()).toBe(1);
});

it('leaves the rest to the next reader when one breaks off', async () => {
  const { input, give } = source();
  const shared = HandoverInput.of(input);
  const heard: LiveInput[] = [];

  for (const text of ['one', 'two']) {
    const reading = (async () => {
      for await (const one of shared) {
        heard.push(one);
        break;
      }
    })();
    await Promise.resolve();
    give(text);
    await reading;
  }

  expect(heard).toEqual([say('one'), say('two')]);
});

it('passes on that its source failed, also to whoever comes later', async () => {
  const { input, fail } = source();
  const shared = HandoverInput.of(input);
  const reading = shared.next();

  fail(new Error('broken'));

  await expect(reading).rejects.toThrow('broken');
  await expect(shared.next()).rejects.toThrow('broken');
});

it('is itself when it is shared already, and lets go of its source when closed', async () => {
  const { input, returned } = source();
  const shared = HandoverInput.of(input);

  expect(HandoverInput.of(shared)).toBe(shared);
  shared.close();

  expect(returned()).toBe(1);
  expect(await shared.next()).toBeUndefined();
});
