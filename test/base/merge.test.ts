import { expect, it } from 'vitest';
import { LinkedAbort, delay } from '../../src/base/abort.ts';
import { merge } from '../../src/base/merge.ts';

const open = new AbortController().signal;

async function* ticks(name: string, count: number, ms: number, signal: AbortSignal): AsyncGenerator<string> {
  for (let tick = 0; tick < count; tick += 1) {
    await delay(ms, signal);
    yield `${name}${tick}`;
  }
}

it('yields every value of every source, each source in its own order', async () => {
  const sources = [ticks('a', 3, 2, open), ticks('b', 2, 3, open)];

  const seen = await Array.fromAsync(merge(sources, { onStop: () => {} }));

  expect(seen.toSorted()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1']);
  expect(seen.filter((value) => value.startsWith('a'))).toEqual(['a0', 'a1', 'a2']);
});

it('pulls at most `limit` sources at the same time', async () => {
  let running = 0;
  let most = 0;
  async function* one(): AsyncGenerator<number> {
    running += 1;
    most = Math.max(most, running);
    await delay(2, open);
    yield 1;
    running -= 1;
  }

  const seen = await Array.fromAsync(merge([one(), one(), one(), one()], { limit: 2, onStop: () => {} }));

  expect([seen.length, most]).toEqual([4, 2]);
});

it('stops and closes the other sources when one fails', async () => {
  using siblings = new LinkedAbort(open);
  let closed = false;
  async function* slow(): AsyncGenerator<string> {
    try {
      await delay(60_000, siblings.signal);
      yield 'never';
    } finally {
      closed = true;
    }
  }
  async function* broken(): AsyncGenerator<string> {
    yield 'one';
    throw new Error('broken');
  }
  const seen: string[] = [];

  const run = async (): Promise<void> => {
    for await (const value of merge([slow(), broken()], { onStop: () => siblings.abort() })) seen.push(value);
  };

  await expect(run()).rejects.toThrow('broken');
  expect(seen).toEqual(['one']);
  expect(closed).toBe(true);
});
