import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/base/json.ts';
import { toGeminiSchema } from '../../../src/models/gemini/gemini-schema.ts';
import { wireFaults } from '../../support/gemini-wire-rules.ts';

const string = { type: 'STRING' };
const table: readonly [why: string, schema: JsonObject, expected: JsonObject | undefined][] = [
  ['types in capitals', { type: 'integer', description: 'd' }, { type: 'INTEGER', description: 'd' }],
  ['Gemini’s own dialect', { type: 'STRING', nullable: true }, { type: 'STRING', nullable: true }],
  ['null beside a type', { type: ['string', 'null'] }, { ...string, nullable: true }],
  ['null as an alternative', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { ...string, nullable: true }],
  [
    'several types',
    { type: ['string', 'number', 'null'], description: 'd' },
    {
      anyOf: [
        { ...string, description: 'd', nullable: true },
        { type: 'NUMBER', description: 'd', nullable: true },
      ],
    },
  ],
  [
    'oneOf as anyOf, which stands alone',
    { oneOf: [{ type: 'string' }, { type: 'boolean', description: 'own' }], description: 'd', title: 't' },
    {
      anyOf: [
        { ...string, description: 'd', title: 't' },
        { type: 'BOOLEAN', description: 'own', title: 't' },
      ],
    },
  ],
  ['allOf of one', { allOf: [{ type: 'string' }], description: 'd' }, { ...string, description: 'd' }],
  ['const as enum', { const: 'a' }, { ...string, enum: ['a'] }],
  ['null among the choices', { enum: ['a', null] }, { ...string, enum: ['a'], nullable: true }],
  ['known formats', { type: 'string', format: 'date-time' }, { ...string, format: 'date-time' }],
  ['unknown formats', { type: 'string', format: 'email', pattern: '@' }, { ...string, pattern: '@' }],
  ['counts as texts', { type: 'string', minLength: 1, maxLength: 5 }, { ...string, minLength: '1', maxLength: '5' }],
  ['safe-integer bounds', { type: 'integer', maximum: Number.MAX_SAFE_INTEGER }, { type: 'INTEGER' }],
  ['exclusive bounds of integers', { type: 'integer', exclusiveMinimum: 0 }, { type: 'INTEGER', minimum: 1 }],
  ['exclusive bounds of numbers', { type: 'number', exclusiveMinimum: 0 }, { type: 'NUMBER' }],
  [
    'objects',
    { type: 'object', properties: { a: { type: 'string' } }, required: [], additionalProperties: false, 'x-own': 1 },
    { type: 'OBJECT', properties: { a: string } },
  ],
  ['arrays', { type: 'array', items: { type: 'string' } }, { type: 'ARRAY', items: string }],
  [
    'references',
    { type: 'object', properties: { a: { $ref: '#/$defs/A', description: 'd' } }, $defs: { A: { type: 'string' } } },
    { type: 'OBJECT', properties: { a: { ...string, description: 'd' } } },
  ],
  ['recursion', { type: 'array', items: { $ref: '#' } }, undefined],
  ['a reference to nothing', { $ref: '#/$defs/none' }, undefined],
  ['a reference elsewhere', { $ref: 'https://example.com/schema' }, undefined],
  ['a reference to a prototype', { $ref: '#/constructor' }, undefined],
  ['numbers to choose from', { type: 'integer', enum: [1, 2] }, undefined],
  ['an empty choice', { enum: ['', 'a'] }, undefined],
  ['maps', { type: 'object', additionalProperties: { type: 'string' } }, undefined],
  ['tuples', { type: 'array', prefixItems: [{ type: 'string' }] }, undefined],
  ['lists of anything', { type: 'array' }, undefined],
  ['anything', {}, undefined],
  ['nothing but null', { type: 'null' }, undefined],
  ['conditions', { type: 'string', not: { const: 'a' } }, undefined],
];

it.each(table)('translates or refuses %s', (_why, schema, expected) => {
  expect(toGeminiSchema(schema)).toEqual(expected);
});

it('translates what zod makes of an ordinary tool', () => {
  const parameters = z.object({
    city: z.string().min(2).describe('Where'),
    days: z.number().int().positive().optional(),
    unit: z.enum(['C', 'F']).default('C'),
    stops: z.array(z.object({ at: z.iso.datetime(), fee: z.number().nullable() })),
  });

  const schema = toGeminiSchema(z.toJSONSchema(parameters));

  expect(schema).toMatchObject({
    type: 'OBJECT',
    properties: {
      city: { type: 'STRING', minLength: '2', description: 'Where' },
      days: { type: 'INTEGER', minimum: 1 },
      unit: { type: 'STRING', enum: ['C', 'F'], default: 'C' },
      stops: {
        type: 'ARRAY',
        items: {
          properties: { at: { type: 'STRING', format: 'date-time' }, fee: { type: 'NUMBER', nullable: true } },
        },
      },
    },
  });
});

const jsonSchema = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.record({ type: fc.constantFrom('string', 'number', 'boolean', 'integer', 'null'), format: fc.string() }),
    fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))) }),
    fc.record({ const: fc.jsonValue() }) as fc.Arbitrary<JsonObject>,
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat() }),
    fc.record({
      type: fc.constantFrom('object', undefined),
      properties: fc.dictionary(fc.string(), tie('schema')),
      additionalProperties: fc.boolean(),
    }),
    fc.record({ anyOf: fc.array(tie('schema')), description: fc.string() }),
    fc.record({ type: fc.array(fc.constantFrom('string', 'null', 'object')), title: fc.string() }),
    fc.constantFrom({ $ref: '#' }, { $ref: '#/properties/a' }),
  ),
})).schema;

it('never says what the real API would refuse, and leaves the schema alone', () => {
  fc.assert(
    fc.property(jsonSchema, (schema) => {
      const before = JSON.stringify(schema);

      const parameters = toGeminiSchema(schema);

      expect(JSON.stringify(schema)).toBe(before);
      const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
      const tools = [{ functionDeclarations: [{ name: 'f', ...(parameters ? { parameters } : {}) }] }];
      expect(wireFaults({ contents, tools })).toEqual([]);
    }),
  );
});

it('sends schemas as they are that would double with each reference or choice', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, { type: 'object', properties: { left: next, right: next } }];
    }),
  );
  const schema = { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'string' } } };

  expect(toGeminiSchema(schema)).toBeUndefined();
  expect(toGeminiSchema({ $ref: '#/%zz' })).toBeUndefined();
});
