import { expect, it, vi } from 'vitest';
import { Room } from '../../src/base/room.ts';

const { signal } = new AbortController();

it('lets in what fits, the others as room comes, and a large one alone', async () => {
  const room = new Room(100, ['unavailable', 'Full']);
  const entered: number[] = [];
  const enter = (bytes: number): void => {
    void Promise.resolve(room.enter(bytes, signal)).then(() => entered.push(bytes));
  };
  const settled = (): Promise<number[]> => new Promise((resolve) => setImmediate(() => resolve([...entered])));
  for (const bytes of [60, 50, 500, 40]) enter(bytes);

  expect(await settled()).toEqual([60, 40]);
  room.leave(60);
  expect(await settled()).toEqual([60, 40, 50]);
  room.leave(40);
  expect(await settled()).toEqual([60, 40, 50]);
  room.leave(50);
  expect(await settled()).toEqual([60, 40, 50, 500]);
});

it('refuses after a while what does not fit, and forgets who leaves', async () => {
  vi.useFakeTimers();
  try {
    const room = new Room(100, ['unavailable', 'Full']);
    const left = new AbortController();
    void room.enter(100, signal);
    const refused = Promise.resolve(room.enter(1, signal)).catch((error: unknown) => error);
    const gone = Promise.resolve(room.enter(100, left.signal)).catch((error: unknown) => error);
    left.abort(new Error('left'));
    vi.advanceTimersByTime(15_000);

    expect(await gone).toMatchObject({ message: 'left' });
    expect(await refused).toMatchObject({ code: 'unavailable', retryAfter: 5 });
    room.leave(100);

    expect(room.enter(100, signal)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
