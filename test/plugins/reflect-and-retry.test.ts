import { expect, it } from 'vitest';
import type { Tool, ToolContext } from '../../src/core/runtime.ts';
import { reflectAndRetryPlugin } from '../../src/plugins/reflect-and-retry.ts';

const tool: Tool = { kind: 'tool', name: 'book', description: '' };
const newRun = (): ToolContext => ({ data: new Map() }) as unknown as ToolContext;

it('tells the model what went wrong, and to give up after the last retry', async () => {
  const plugin = reflectAndRetryPlugin({ maxRetries: 1 });
  const ctx = newRun();

  const first = await plugin.onToolError?.({
    tool,
    args: { day: 'x' },
    context: ctx,
    error: new TypeError('day is not a date'),
  });
  const second = await plugin.onToolError?.({
    tool,
    args: { day: 'y' },
    context: ctx,
    error: new TypeError('day is not a date'),
  });

  expect(first).toMatchObject({
    response_type: 'ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN',
    error_type: 'TypeError',
    error_details: 'day is not a date',
    retry_count: 1,
  });
  expect(first?.['reflection_guidance']).toContain('attempt 1 of 1');
  expect(second?.['reflection_guidance']).toContain('Do not call it again');
});

it('starts counting anew after a success and in another run', async () => {
  const plugin = reflectAndRetryPlugin();
  const ctx = newRun();

  await plugin.onToolError?.({ tool, args: {}, context: ctx, error: new Error('a') });
  await plugin.afterTool?.({ tool, args: {}, context: ctx, result: { ok: true } });
  const after = await plugin.onToolError?.({ tool, args: {}, context: ctx, error: new Error('b') });
  const elsewhere = await plugin.onToolError?.({ tool, args: {}, context: newRun(), error: new Error('c') });

  expect([after?.['retry_count'], elsewhere?.['retry_count']]).toEqual([1, 1]);
});

it('leaves the error as it is beyond the retries when told so', async () => {
  const plugin = reflectAndRetryPlugin({ maxRetries: 0, errorIfRetryExceeded: true });

  expect(await plugin.onToolError?.({ tool, args: {}, context: newRun(), error: new Error('a') })).toBeUndefined();
});

it('counts across runs in the global scope', async () => {
  const plugin = reflectAndRetryPlugin({ scope: 'global' });

  await plugin.onToolError?.({ tool, args: {}, context: newRun(), error: new Error('a') });
  const second = await plugin.onToolError?.({ tool, args: {}, context: newRun(), error: new Error('b') });

  expect(second?.['retry_count']).toBe(2);
});
