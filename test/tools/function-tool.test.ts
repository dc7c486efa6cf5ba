import { expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/base/json.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import type { StandardSchema } from '../../src/tools/schema-types.ts';
import { toolContext } from './contexts.ts';

const weather = functionTool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({
    city: z.string().min(2).describe('Name of a city'),
    days: z.int().default(1),
    stops: z.array(z.object({ name: z.string() })).optional(),
  }),
  run: ({ city, days }) => ({ report: `${city}: sun for ${days}` }),
});

it('declares its arguments in plain JSON Schema', () => {
  expect(weather.declaration).toEqual({
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 2, description: 'Name of a city' },
        days: { type: 'integer', default: 1 },
        stops: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      },
      required: ['city'],
    },
  });
});

it('runs with arguments that fit, defaults filled in', async () => {
  expect(await weather.run?.({ city: 'Paris' }, toolContext())).toEqual({ report: 'Paris: sun for 1' });
});

it('answers arguments that do not fit with path and problem of each', async () => {
  const result = await weather.run?.({ city: 'P', days: 'two', stops: [{ name: 'x' }, {}] }, toolContext());

  const { error } = result as { error: string };
  expect(error).toContain('"get_weather"');
  expect(error).toMatch(/^- city: .*>=2 characters/m);
  expect(error).toMatch(/^- days: .*expected number.*received string/m);
  expect(error).toMatch(/^- stops\[1\]\.name: .*expected string/m);
});

it('takes JSON Schema, fills in its defaults and leaves the call untouched', async () => {
  const seen: unknown[] = [];
  const tool = functionTool({
    name: 'order',
    description: 'Orders.',
    parameters: {
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['S', 'L'] },
        count: { type: 'integer', default: 1 },
        lines: { type: 'array', items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } } },
      },
      required: ['size'],
      additionalProperties: false,
    },
    run: (args) => seen.push(args),
  });
  const call = Object.freeze({ size: 'L' });

  await tool.run?.(call, toolContext());
  const result = await tool.run?.({ count: 'x', lines: [{}, { sku: 1 }], colour: 'red' }, toolContext());

  expect(seen).toEqual([{ size: 'L', count: 1 }]);
  expect(call).toEqual({ size: 'L' });
  const { error } = result as { error: string };
  for (const line of [
    /^- size: is required/m,
    /^- colour: is not a known property/m,
    /^- count: must be integer/m,
    /^- lines\[0\]\.sku: is required/m,
    /^- lines\[1\]\.sku: must be string/m,
  ]) {
    expect(error).toMatch(line);
  }
});

it('names the allowed values of an enumeration', async () => {
  const tool = functionTool({
    name: 'pick',
    description: '',
    parameters: { type: 'object', properties: { size: { enum: ['S', 'L'] } } },
    run: () => 'picked',
  });

  expect(await tool.run?.({ size: 'XL' }, toolContext())).toMatchObject({
    error: expect.stringContaining('["S","L"]'),
  });
});

it("reads Gemini's dialect of JSON Schema and leaves the author's names alone", async () => {
  const tool = functionTool({
    name: 'paint',
    description: 'Paints.',
    parameters: {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', enum: ['OBJECT', 'ARRAY'] },
        tags: { type: 'ARRAY', items: { type: 'STRING' }, maxItems: '2' },
      },
      required: ['type'],
    },
    run: ({ type }) => type,
  });

  expect(tool.declaration?.parameters).toEqual({
    type: 'object',
    properties: {
      type: { type: 'string', enum: ['OBJECT', 'ARRAY'] },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    },
    required: ['type'],
  });
  expect(await tool.run?.({ type: 'OBJECT', tags: ['a'] }, toolContext())).toBe('OBJECT');
  expect(await tool.run?.({ type: 'OBJECT', tags: ['a', 'b', 'c'] }, toolContext())).toHaveProperty('error');
});

it('takes whatever comes when it declares no arguments', async () => {
  const tool = functionTool({ name: 'ping', description: 'Pings.', run: (args) => args });

  expect(tool.declaration).toEqual({ name: 'ping', description: 'Pings.' });
  expect(await tool.run?.({ surprise: 1 }, toolContext())).toEqual({ surprise: 1 });
});

it('tells the model that a long-running tool is not to be called twice', () => {
  const tool = functionTool({ name: 'build', description: 'Builds.', isLongRunning: true, run: () => 'ticket 7' });

  expect(tool.isLongRunning).toBe(true);
  expect(tool.description).toMatch(/^Builds\.\n\n.*pending/);
  expect(tool.declaration?.description).toBe(tool.description);
});

it('asks for confirmation of valid calls only, by the parsed arguments', async () => {
  const tool = functionTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.coerce.number() }),
    requireConfirmation: ({ amount }) => amount > 100,
    run: () => 'paid',
  });
  const asks = (args: JsonObject): unknown =>
    typeof tool.requireConfirmation === 'function' && tool.requireConfirmation(args, toolContext());

  expect(await asks({ amount: '101' })).toBe(true);
  expect(await asks({ amount: 100 })).toBe(false);
  expect(await asks({ amount: 'much' })).toBe(false);
});

it('refuses names and parameters no model takes, when it is defined', () => {
  const run = (): string => 'x';
  const refusal = expect.objectContaining({ code: 'ConfigurationException' }) as Error;

  for (const name of ['', '1st', 'has space', 'a/b', 'ü', 'x'.repeat(65)]) {
    expect(() => functionTool({ name, description: '', run })).toThrow(refusal);
  }
  expect(() => functionTool({ name: 'x', description: '', parameters: z.string(), run })).toThrow(refusal);
  expect(() => functionTool({ name: 'x', description: '', parameters: { type: 'STRING' }, run })).toThrow(refusal);
});

it('fails with a configuration error, not with a crash, on a JSON Schema that makes no sense', async () => {
  const tool = functionTool({
    name: 'x',
    description: '',
    parameters: { type: 'object', properties: { a: { $ref: 'https://example.com/nowhere' } } },
    run: () => 'ran',
  });

  await expect(tool.run?.({}, toolContext())).rejects.toMatchObject({ code: 'ConfigurationException' });
});

it('keeps state that a tool writes in the delta of its event', async () => {
  const tool = functionTool({
    name: 'count',
    description: 'Counts.',
    run: (_args, ctx) => ctx.state.set('count', ctx.state.get('count', 0) + 1),
  });
  const ctx = toolContext();

  await tool.run?.({}, ctx);
  await tool.run?.({}, ctx);

  expect(ctx.actions.stateDelta).toEqual({ count: 2 });
});

/** A library's schema of `{ city: string }` by Standard Schema. */
const city = (
  jsonSchema?: StandardSchema<{ city: string }>['~standard']['jsonSchema'],
): StandardSchema<{ city: string }> => ({
  '~standard': {
    version: 1,
    vendor: 'other',
    validate: (value) => {
      const given = (value as { city?: unknown }).city;
      if (typeof given === 'string') return { value: { city: given.trim() } };
      return { issues: [{ message: 'must be a text', path: [{ key: 'city' }] }] };
    },
    ...(jsonSchema && { jsonSchema }),
  },
});

it('takes any Standard Schema that can become JSON Schema', async () => {
  const json = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const asked: string[] = [];
  const tool = functionTool({
    name: 'greet',
    description: 'Greets a city.',
    parameters: city({
      input: ({ target }) => {
        asked.push(target);
        return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...json };
      },
    }),
    run: (args) => `Hello ${args.city}`,
  });

  expect(tool.declaration?.parameters).toEqual(json);
  expect(asked).toEqual(['draft-2020-12']);
  expect(await tool.run?.({ city: ' Rome ' }, toolContext())).toBe('Hello Rome');
  expect(await tool.run?.({ city: 7 }, toolContext())).toMatchObject({
    error: expect.stringContaining('city: must be a text'),
  });
});

it('says what a Standard Schema lacks that no model could be told of', () => {
  const make = (parameters: StandardSchema<{ city: string }>) => () =>
    functionTool({ name: 'greet', description: '', parameters, run: () => '' });

  expect(make(city())).toThrow('A schema of "other" has no JSON Schema');
  expect(
    make(
      city({
        input: () => {
          throw new Error('no transforms');
        },
      }),
    ),
  ).toThrow('A schema of "other" cannot become JSON Schema: no transforms');
});
