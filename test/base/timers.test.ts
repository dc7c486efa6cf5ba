import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkTimeLimit, limitOf, longestTimerMs, startTimer } from '../../src/base/timers.ts';

it('does not fire at once for times that Node cannot count', async () => {
  const fired: number[] = [];
  const times = [longestTimerMs + 1, 3_000_000_000, Number.MAX_SAFE_INTEGER, Infinity];
  const timers = times.map((ms) => startTimer(() => fired.push(ms), ms));

  await sleep(20);
  for (const timer of timers) clearTimeout(timer);

  expect(fired).toEqual([]);
});

it('reads 0, less, nothing and what is no number as no limit', () => {
  expect([0, -5, undefined, Number.NaN, Infinity].map(limitOf)).toEqual(Array(5).fill(Infinity));
  expect(limitOf(7)).toBe(7);
});

it('refuses time limits that no author can mean', () => {
  for (const ms of [0, -1, Number.NaN, '5' as unknown as number]) {
    expect(() => checkTimeLimit('timeoutMs of "t"', ms)).toThrow('timeoutMs of "t" must be a number of milliseconds');
  }
  for (const ms of [undefined, 0.5, 3_000_000_000, Infinity]) checkTimeLimit('x', ms);
});
