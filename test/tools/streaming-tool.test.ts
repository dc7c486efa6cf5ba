import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/core/runtime.ts';
import { filteredToolset } from '../../src/tools/filtered-toolset.ts';
import { streamingTool } from '../../src/tools/streaming-tool.ts';
import { toolContext } from './contexts.ts';

const counting = (closed: string[] = [], maxItems?: number): Tool =>
  streamingTool({
    name: 'count',
    description: 'Counts.',
    parameters: z.object({ from: z.number(), as: z.enum(['text', 'number']) }),
    ...(maxItems !== undefined && { maxItems }),
    async *run({ from, as }) {
      try {
        for (let number = from; number > 0; number -= 1) yield as === 'text' ? `${number} ` : number;
      } finally {
        closed.push('closed');
      }
    },
  });

const streamed = async (tool: Tool | undefined, args: Record<string, unknown>): Promise<unknown[]> =>
  Array.fromAsync(tool?.stream?.(args, toolContext()) ?? []);

it('hands on each item as it comes', async () => {
  expect(await streamed(counting(), { from: 3, as: 'number' })).toEqual([3, 2, 1]);
});

it('answers with all items at once where nothing streams', async () => {
  expect(await counting().run?.({ from: 3, as: 'text' }, toolContext())).toBe('3 2 1 ');
  expect(await counting().run?.({ from: 3, as: 'number' }, toolContext())).toEqual([3, 2, 1]);
});

it('ends an endless answer, and closes what it reads from', async () => {
  const closed: string[] = [];

  expect(await counting(closed, 2).run?.({ from: Infinity, as: 'number' }, toolContext())).toHaveProperty('error');
  expect(await counting(closed, 2).run?.({ from: 1e9, as: 'number' }, toolContext())).toEqual([1e9, 1e9 - 1]);
  expect(closed).toEqual(['closed']);
});

it('tells what is wrong with the arguments, either way', async () => {
  const problem = { error: expect.stringContaining('- from:') as string };

  expect(await streamed(counting(), { from: 'x', as: 'text' })).toEqual([problem]);
  expect(await counting().run?.({ from: 'x', as: 'text' }, toolContext())).toEqual(problem);
});

it('streams under another name, too', async () => {
  const source = { kind: 'toolset' as const, getTools: async () => [counting()], close: async () => {} };
  const [renamed] = await filteredToolset(source, { prefix: 'my' }).getTools(toolContext().run);

  expect(renamed?.name).toBe('my_count');
  expect(await streamed(renamed, { from: 2, as: 'number' })).toEqual([2, 1]);
});
