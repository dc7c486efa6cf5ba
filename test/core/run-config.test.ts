import { expect, it } from 'vitest';
import { defaultLimits, runConfigFor } from '../../src/core/run-config.ts';
import { checkRunConfig, RunConfig } from '../../src/schemas/run.ts';

it('keeps the usual limits when nobody says anything', () => {
  expect(runConfigFor({})).toEqual(defaultLimits);
});

it('lets a request tighten every limit and lift none', () => {
  const operator = { maxLlmCalls: 10, maxParallelToolCalls: 4, timeoutMs: 2_000, toolTimeoutMs: 1_000 };
  const more = { maxLlmCalls: 11, maxParallelToolCalls: 5, timeoutMs: 3_000_000_000, toolTimeoutMs: 1_001 };
  const less = { maxLlmCalls: 9, maxParallelToolCalls: 3, timeoutMs: 1_999, toolTimeoutMs: 999 };
  const none = { maxLlmCalls: 0, maxParallelToolCalls: 4, timeoutMs: 0, toolTimeoutMs: 0 };

  expect(runConfigFor({ operator, request: more })).toEqual(operator);
  expect(runConfigFor({ operator, request: none })).toEqual(operator);
  expect(runConfigFor({ operator, request: { maxLlmCalls: -1 } })).toEqual(operator);
  expect(runConfigFor({ operator, request: less })).toEqual(less);
  expect(runConfigFor({ app: operator, request: more })).toEqual(operator);
  expect(runConfigFor({ request: none })).toEqual({ ...defaultLimits, maxParallelToolCalls: 4 });
});

it('lets an app exceed what is usual, but not what the operator set', () => {
  const app = { maxLlmCalls: 2_000, timeoutMs: 0 };

  expect(runConfigFor({ app })).toMatchObject({ maxLlmCalls: 2_000, timeoutMs: Infinity });
  expect(runConfigFor({ operator: { maxLlmCalls: 100, timeoutMs: 5 }, app })).toMatchObject({
    maxLlmCalls: 100,
    timeoutMs: 5,
  });
  expect(runConfigFor({ operator: { maxLlmCalls: 100 }, app: { maxLlmCalls: 7 } })).toMatchObject({ maxLlmCalls: 7 });
});

it('takes 0 of the operator for no limit, which an app and a request may still set', () => {
  const operator = { maxLlmCalls: 0, timeoutMs: 0, toolTimeoutMs: 0 };

  expect(runConfigFor({ operator })).toMatchObject({
    maxLlmCalls: Infinity,
    timeoutMs: Infinity,
    toolTimeoutMs: Infinity,
  });
  expect(runConfigFor({ operator, app: { timeoutMs: 50 }, request: { toolTimeoutMs: 7 } })).toMatchObject({
    timeoutMs: 50,
    toolTimeoutMs: 7,
  });
});

it('keeps tools in a row when anybody asks for it, and takes all else from the request first', () => {
  const app = { toolExecutionMode: 'sequential', saveLiveBlob: true, streamingMode: 'none' } as const;

  expect(runConfigFor({ app, request: { toolExecutionMode: 'parallel', streamingMode: 'sse' } })).toMatchObject({
    toolExecutionMode: 'sequential',
    saveLiveBlob: true,
    streamingMode: 'sse',
  });
});

it('refuses an app whose limits are no numbers', () => {
  for (const timeoutMs of [Number.NaN, -1, Infinity, 1.5]) {
    expect(() => checkRunConfig('app "x"', { timeoutMs })).toThrow('runConfig of app "x": timeoutMs: ');
  }
  expect(() => checkRunConfig('app "x"', { timeoutMs: 0, maxLlmCalls: 0 })).not.toThrow();
});

it.each([
  ['SSE', 'sse'],
  ['Bidi', 'bidi'],
  ['NONE', 'none'],
])('takes the streaming mode %s in any case', (written, mode) => {
  expect(RunConfig.parse({ streaming_mode: written })).toEqual({ streamingMode: mode });
});

it('takes the smallest budget of each kind from all sources, and has none without a source', () => {
  const operator = { budgets: { run: { tokens: 100, toolCalls: 5 }, userDay: { cost: 1 } } };
  const app = { budgets: { run: { tokens: 50 }, session: { modelCalls: 9 } } };
  const request = { budgets: { run: { tokens: 1_000, toolCalls: 0 }, appDay: {} } };

  expect(runConfigFor({ operator, app, request }).budgets).toEqual({
    run: { tokens: 50, toolCalls: 0 },
    session: { modelCalls: 9 },
    userDay: { cost: 1 },
  });
  expect(runConfigFor({ request: { budgets: { run: {} } } }).budgets?.session).toBeUndefined();
  expect('budgets' in runConfigFor({})).toBe(false);
});
