import { functionTool, type Plugin, type StandardSchema, streamingTool, type Tool } from 'agent-server';
import { callTool } from 'agent-server/testing';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

// What does not compile here is checked by `npm run typecheck`: an error that is expected and does not come is one.

const about = { name: 'weather', description: 'The weather of a city.' };

it('infers arguments from a zod object: what a caller gives, and what the tool gets', async () => {
  const tool = functionTool({
    ...about,
    parameters: z.object({ city: z.string(), days: z.number().default(1) }),
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
      return args;
    },
  });
  expectTypeOf(tool).toEqualTypeOf<Tool<{ city: string; days?: number | undefined }>>();

  expect((await callTool(tool, { city: 'Oslo' })).response).toEqual({ city: 'Oslo', days: 1 });
  // @ts-expect-error: `city` is missing
  expect((await callTool(tool, {})).response).toMatchObject({ error: expect.stringContaining('city') });
  // @ts-expect-error: `days` is a number
  await callTool(tool, { city: 'Oslo', days: 'two' });
  // @ts-expect-error: it is `days`
  await callTool(tool, { city: 'Oslo', day: 2 });
});

it('infers arguments from JSON Schema, in the dialect of Gemini, too', async () => {
  const tool = functionTool({
    ...about,
    parameters: {
      type: 'OBJECT',
      properties: {
        city: { type: 'STRING' },
        unit: { enum: ['C', 'F'], default: 'C' },
        days: { type: ['integer', 'null'] },
        at: { type: 'array', items: { type: 'object', properties: { hour: { type: 'number' } }, required: ['hour'] } },
      },
      required: ['city'],
    },
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{
        city: string;
        unit: 'C' | 'F';
        days?: number | null;
        at?: { hour: number }[];
      }>();
      return args;
    },
  });

  expect((await callTool(tool, { city: 'Oslo', at: [{ hour: 3 }] })).response).toMatchObject({ city: 'Oslo' });
  // @ts-expect-error: no such unit
  await callTool(tool, { city: 'Oslo', unit: 'K' });
  // @ts-expect-error: `hour` is missing
  await callTool(tool, { city: 'Oslo', at: [{}] });
});

it('infers arguments from a schema that is a constant of its own', () => {
  const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;
  const tool = functionTool({ ...about, parameters, run: ({ a }) => a * 2 });

  expectTypeOf(tool).toEqualTypeOf<Tool<{ a: number }>>();
});

it('infers arguments from a Standard Schema', () => {
  const parameters: StandardSchema<{ a: number }, { a: string }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ value: { a: Number((value as { a: string }).a) } }),
      jsonSchema: { input: () => ({ type: 'object', properties: { a: { type: 'string' } } }) },
    },
  };
  const tool = functionTool({ ...about, parameters, run: ({ a }) => a.toFixed() });

  expectTypeOf(tool).toEqualTypeOf<Tool<{ a: string }>>();
});

it('takes any object where the compiler cannot read the schema', async () => {
  const parameters: Record<string, unknown> = { type: 'object' };
  const typed = functionTool({ ...about, parameters, run: (args: { a: number }) => args });
  const bare = functionTool({ ...about, run: (args) => Object.keys(args) });

  expect((await callTool(typed, { a: 1 })).response).toEqual({ a: 1 });
  expect((await callTool(bare, {})).response).toEqual({ result: [] });
});

it('has arguments refused that no schema gives', () => {
  const tool = functionTool({
    ...about,
    parameters: z.object({ a: z.number() }),
    // @ts-expect-error: `a` is a number
    run: (args: { a: string }) => args,
  });

  expectTypeOf(tool).toEqualTypeOf<Tool<{ a: number }>>();
});

it('keeps arguments in streaming tools, and offers every tool as a Tool', () => {
  const stream = streamingTool({
    ...about,
    parameters: z.object({ city: z.string() }),
    async *run({ city }) {
      yield city;
    },
  });
  const tools: readonly Tool[] = [
    stream,
    functionTool({ ...about, parameters: z.object({ a: z.number() }), run: String }),
  ];
  const plugin: Plugin = {
    name: 'watcher',
    beforeTool: ({ tool }) => void expectTypeOf(tool).toEqualTypeOf<Tool>(),
    afterTool: ({ tool }) => void expectTypeOf(tool).toEqualTypeOf<Tool>(),
  };

  expectTypeOf(stream).toEqualTypeOf<Tool<{ city: string }>>();
  expect([tools.length, plugin.name]).toEqual([2, 'watcher']);
});
