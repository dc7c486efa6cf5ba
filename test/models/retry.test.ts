import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  type Model,
  ModelError,
  type ModelErrorCategory,
  type ModelRequest,
  type ModelRetry,
} from '../../src/core/model.ts';
import { withRetry, retryDelayMs, type RetryOptions, retryStrategy } from '../../src/models/retry.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

interface Failure {
  readonly category: ModelErrorCategory;
  readonly retryAfter?: number;
  /** Texts given out before the failure. */
  readonly after?: readonly string[];
}

const times = (count: number, failure: Failure): Failure[] => Array.from({ length: count }, () => ({ ...failure }));

function run(
  failures: readonly Failure[],
  { signal = new AbortController().signal, ...options }: RetryOptions & { signal?: AbortSignal } = {},
) {
  const tries: number[] = [];
  const retries: ModelRetry[] = [];
  const began = Date.now();
  const flaky: Model = {
    name: 'flaky',
    async *generate() {
      const failure = failures[tries.length];
      tries.push(Date.now() - began);
      for (const text of failure?.after ?? []) yield { content: { role: 'model', parts: [{ text }] }, partial: true };
      if (failure)
        throw new ModelError(
          failure.category,
          'no',
          failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter },
        );
      yield { finishReason: 'STOP' };
    },
  };
  const request: ModelRequest = {
    model: 'flaky',
    contents: [],
    config: {},
    stream: true,
    onRetry: (retry) => retries.push(retry),
  };
  const done = Array.fromAsync(withRetry(flaky, options).generate(request, signal));
  done.catch(() => {});
  return { done, tries, retries };
}

it.each([
  ['AUTH_ERROR', undefined, []],
  ['RATE_LIMITED', 'EXPONENTIAL_BACKOFF', [1_000, 2_000, 4_000]],
  ['NETWORK_ERROR', 'FIXED_DELAY', [1_000, 1_000, 1_000]],
  ['CLIENT_ERROR', undefined, []],
  ['SERVER_ERROR', 'EXPONENTIAL_BACKOFF', [1_000, 2_000, 4_000]],
  ['TIMEOUT_ERROR', 'EXPONENTIAL_BACKOFF', [1_000, 2_000, 4_000]],
  ['MODEL_ERROR', undefined, []],
  ['UNKNOWN_ERROR', undefined, []],
] as const)('retries %s by %s', (category, strategy, delays) => {
  expect(retryStrategy(category)).toBe(strategy);
  expect(delays.map((_, attempt) => strategy && retryDelayMs(strategy, attempt))).toEqual(delays);
});

it('caps a growing delay, and waits not at all when told so', () => {
  expect(retryDelayMs('EXPONENTIAL_BACKOFF', 40)).toBe(30_000);
  expect(retryDelayMs('IMMEDIATE_RETRY', 3)).toBe(0);
});

it('tries a third time after two failures that may pass, and tells each', async () => {
  const { done, tries, retries } = run([{ category: 'SERVER_ERROR' }, { category: 'NETWORK_ERROR' }]);

  await vi.runAllTimersAsync();

  expect(await done).toEqual([{ finishReason: 'STOP' }]);
  expect(retries).toMatchObject([
    { attempt: 1, error: { category: 'SERVER_ERROR' } },
    { attempt: 2, error: { category: 'NETWORK_ERROR' } },
  ]);
  for (const { delayMs } of retries) expect(delayMs).toBeGreaterThanOrEqual(500);
  expect(tries).toHaveLength(3);
});

it('waits as long as the provider asks, and a little more', async () => {
  const { done, tries } = run([
    { category: 'RATE_LIMITED', retryAfter: 1 },
    { category: 'RATE_LIMITED', retryAfter: 1 },
  ]);

  await vi.runAllTimersAsync();

  expect(await done).toHaveLength(1);
  const [, second = 0, third = 0] = tries;
  for (const wait of [second, third - second]) {
    expect(wait).toBeGreaterThanOrEqual(1_000);
    expect(wait).toBeLessThanOrEqual(1_101);
  }
});

it.each([
  ['a failure that does not pass', [{ category: 'AUTH_ERROR' }], 1],
  ['the third failure', times(3, { category: 'SERVER_ERROR' }), 3],
  ['output that was seen', [{ category: 'SERVER_ERROR', after: ['a'] }], 1],
  ['a wait beyond the budget', [{ category: 'RATE_LIMITED', retryAfter: 31 }], 1],
] as const)('gives up after %s', async (_why, failures, count) => {
  const { done, tries } = run(failures);

  await vi.runAllTimersAsync();

  await expect(done).rejects.toMatchObject({ category: failures[0]?.category });
  expect(tries).toHaveLength(count);
});

it('begins no try after its budget', async () => {
  const { done, tries } = run(times(9, { category: 'RATE_LIMITED', retryAfter: 10 }), {
    attempts: 9,
    budgetMs: 25_000,
  });

  await vi.runAllTimersAsync();

  await expect(done).rejects.toMatchObject({ retryAfter: 10 });
  expect(tries).toHaveLength(3);
});

it('stops waiting when the signal aborts', async () => {
  const leaving = new AbortController();
  const { done, tries } = run([{ category: 'SERVER_ERROR' }], { signal: leaving.signal });
  await vi.advanceTimersByTimeAsync(100);

  leaving.abort(new Error('left'));

  await expect(done).rejects.toThrow('left');
  expect(tries).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
