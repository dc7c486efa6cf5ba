import { expect, it } from 'vitest';
import { InputTap } from '../../../src/agents/live/input-tap.ts';
import type { LiveInput } from '../../../src/core/model.ts';

const sound = (size: number): LiveInput => ({ kind: 'blob', blob: { mimeType: 'audio/pcm', data: 'A'.repeat(size) } });

it('keeps nothing for a tool that does not listen', async () => {
  const overheard = new InputTap();
  overheard.push(sound(8));
  const reader = overheard[Symbol.asyncIterator]();

  overheard.push({ kind: 'activityStart' });

  expect((await reader.next()).value).toEqual({ kind: 'activityStart' });
});

it('loses the oldest sound when it is not read in time', async () => {
  const overheard = new InputTap();
  const reader = overheard[Symbol.asyncIterator]();

  for (let size = 1; size <= 6; size += 1) overheard.push(sound(size * 512 * 1024));

  expect((await reader.next()).value).toEqual(sound(6 * 512 * 1024));
});

it('ends a reader that waits', async () => {
  const overheard = new InputTap();
  const next = overheard[Symbol.asyncIterator]().next();

  overheard.end();

  expect(await next).toEqual({ done: true, value: undefined });
});
