import { expect, it, vi } from 'vitest';
import { ByteBudget } from '../../src/base/byte-budget.ts';

const { signal } = new AbortController();

it('admits callers whose bytes fit, the others as bytes are released, and a large one alone', async () => {
  const budget = new ByteBudget(100, ['unavailable', 'Full']);
  const admitted: number[] = [];
  const acquire = (bytes: number): void => {
    void Promise.resolve(budget.acquire(bytes, signal)).then(() => admitted.push(bytes));
  };
  const settled = (): Promise<number[]> => new Promise((resolve) => setImmediate(() => resolve([...admitted])));
  for (const bytes of [60, 50, 500, 40]) acquire(bytes);

  expect(await settled()).toEqual([60, 40]);
  budget.release(60);
  expect(await settled()).toEqual([60, 40, 50]);
  budget.release(40);
  expect(await settled()).toEqual([60, 40, 50]);
  budget.release(50);
  expect(await settled()).toEqual([60, 40, 50, 500]);
});

it('rejects a caller that waited too long, and drops one whose signal aborts', async () => {
  vi.useFakeTimers();
  try {
    const budget = new ByteBudget(100, ['unavailable', 'Full']);
    const left = new AbortController();
    void budget.acquire(100, signal);
    const refused = Promise.resolve(budget.acquire(1, signal)).catch((error: unknown) => error);
    const gone = Promise.resolve(budget.acquire(100, left.signal)).catch((error: unknown) => error);
    left.abort(new Error('left'));
    vi.advanceTimersByTime(15_000);

    expect(await gone).toMatchObject({ message: 'left' });
    expect(await refused).toMatchObject({ code: 'unavailable', retryAfter: 5 });
    budget.release(100);

    expect(budget.acquire(100, signal)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
