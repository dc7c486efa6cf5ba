import { GenerateContentResponse } from '@google/genai';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelResponse } from '../../../src/core/model.ts';
import { geminiStream } from '../../../src/models/gemini/gemini-stream.ts';
import type { Part } from '../../../src/schemas/content.ts';

const chunkOf = (fields: object): GenerateContentResponse => Object.assign(new GenerateContentResponse(), fields);
const partsChunk = (...parts: object[]): GenerateContentResponse =>
  chunkOf({ candidates: [{ content: { role: 'model', parts } }] });

function fold(...chunks: GenerateContentResponse[]): { partials: ModelResponse[]; whole: ModelResponse | undefined } {
  const stream = geminiStream();
  const partials = chunks.flatMap((chunk) => stream.add(chunk) ?? []);
  return { partials, whole: stream.end() };
}

const table: readonly [why: string, chunks: object[][], expected: object[]][] = [
  ['text chunks', [[{ text: 'a' }], [{ text: 'b' }]], [{ text: 'ab' }]],
  ['an empty end', [[{ text: 'a' }], [{ text: '' }]], [{ text: 'a' }]],
  [
    'thoughts and texts apart, in order',
    [[{ text: 'x', thought: true }], [{ text: 'y', thought: true }, { text: 'a' }], [{ text: 'z', thought: true }]],
    [{ text: 'xy', thought: true }, { text: 'a' }, { text: 'z', thought: true }],
  ],
  [
    'text around an image',
    [[{ text: 'a' }], [{ inlineData: { data: 'aGk=', mimeType: 'image/png' } }], [{ text: 'b' }]],
    [{ text: 'a' }, { inlineData: { data: 'aGk=', mimeType: 'image/png' } }, { text: 'b' }],
  ],
  [
    'code and its result',
    [[{ executableCode: { code: '1' } }, { codeExecutionResult: { outcome: 'OK' } }]],
    [{ executableCode: { code: '1' } }, { codeExecutionResult: { outcome: 'OK' } }],
  ],
  [
    'a signature on the first chunk',
    [[{ text: 'a', thoughtSignature: 's' }], [{ text: 'b' }]],
    [{ text: 'ab', thoughtSignature: 's' }],
  ],
  [
    'a signature on a later chunk',
    [[{ text: 'a' }], [{ text: '', thoughtSignature: 's' }]],
    [{ text: 'a', thoughtSignature: 's' }],
  ],
  [
    'the first of several signatures',
    [[{ text: 'a', thoughtSignature: 's' }], [{ text: 'b', thoughtSignature: 't' }]],
    [{ text: 'ab', thoughtSignature: 's' }],
  ],
  ['a signature alone', [[{ thoughtSignature: 's' }], [{ text: 'a' }]], [{ thoughtSignature: 's' }, { text: 'a' }]],
  [
    'signatures of runs apart',
    [[{ text: 'x', thought: true, thoughtSignature: 's' }], [{ text: 'a', thoughtSignature: 't' }]],
    [
      { text: 'x', thought: true, thoughtSignature: 's' },
      { text: 'a', thoughtSignature: 't' },
    ],
  ],
  [
    'streamed arguments',
    [
      [{ functionCall: { id: '1', name: 'f', willContinue: true }, thoughtSignature: 's' }],
      [
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.a.b[0]', stringValue: 'x', willContinue: true }],
            willContinue: true,
          },
        },
      ],
      [
        {
          functionCall: {
            partialArgs: [
              { jsonPath: '$.a.b[0]', stringValue: 'y' },
              { jsonPath: '$.n', numberValue: 1 },
            ],
            willContinue: true,
          },
        },
      ],
      [
        {
          functionCall: {
            partialArgs: [
              { jsonPath: "$['k.k']", boolValue: true },
              { jsonPath: '$.z', nullValue: 'NULL_VALUE' },
            ],
          },
        },
      ],
    ],
    [
      {
        functionCall: { id: '1', name: 'f', args: { a: { b: ['xy'] }, n: 1, 'k.k': true, z: null } },
        thoughtSignature: 's',
      },
    ],
  ],
  [
    'two streamed calls apart, the first ended by an empty mark',
    [
      [{ functionCall: { id: '1', name: 'f', willContinue: true } }],
      [{ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }], willContinue: true } }],
      [{ functionCall: {} }],
      [{ functionCall: { id: '2', name: 'f', willContinue: true } }],
      [{ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'y' }], willContinue: true } }],
    ],
    [
      { functionCall: { id: '1', name: 'f', args: { a: 'x' } } },
      { functionCall: { id: '2', name: 'f', args: { a: 'y' } } },
    ],
  ],
  ['a stray mark', [[{ text: 'a' }], [{ functionCall: {} }]], [{ text: 'a' }]],
  [
    'fragments nobody can place',
    [
      [
        {
          functionCall: {
            id: '1',
            name: 'f',
            partialArgs: [
              { jsonPath: 'a', stringValue: 'x' },
              { jsonPath: '$.a' },
              { jsonPath: '$[999999999]', stringValue: 'x' },
              { jsonPath: '$.__proto__.x', stringValue: 'x' },
              7,
            ],
          },
        },
      ],
    ],
    [{ functionCall: { id: '1', name: 'f', args: JSON.parse('{"__proto__":{"x":"x"}}') } }],
  ],
];

it.each(table)('joins %s', (_why, chunks, expected) => {
  const { whole } = fold(...chunks.map((parts) => partsChunk(...parts)));

  expect(whole).toEqual({ content: { role: 'model', parts: expected } });
  expect(JSON.stringify(whole?.content?.parts)).toBe(JSON.stringify(expected));
});

it('shows each call under one id, in every fragment and in the whole', () => {
  const { partials, whole } = fold(
    partsChunk({ functionCall: { name: 'f', willContinue: true } }),
    partsChunk({ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }], willContinue: true } }),
    partsChunk({ functionCall: {} }),
    partsChunk({ functionCall: { name: 'g', args: {} } }),
  );

  const id = whole?.content?.parts[0]?.functionCall?.id;
  expect(id).toMatch(/^adk-/);
  expect(partials.map((one) => one.content?.parts[0]?.functionCall)).toMatchObject([
    { name: 'f', id },
    { name: 'f', id, partialArgs: [{ stringValue: 'x' }] },
    { name: 'g', id: whole?.content?.parts[1]?.functionCall?.id },
  ]);
});

it('puts the last counts, grounding and version on the whole, and shows no chunk without content', () => {
  const { partials, whole } = fold(
    chunkOf({ usageMetadata: { totalTokenCount: 1 } }),
    chunkOf({ candidates: [{ content: { parts: [{ text: 'a' }] } }], usageMetadata: { totalTokenCount: 2 } }),
    chunkOf({
      candidates: [{ finishReason: 'STOP', groundingMetadata: { webSearchQueries: [] }, avgLogprobs: -1 }],
      usageMetadata: { totalTokenCount: 3 },
      modelVersion: 'v',
    }),
    chunkOf({ usageMetadata: { totalTokenCount: 4 } }),
  );

  expect(partials).toEqual([
    { content: { role: 'model', parts: [{ text: 'a' }] }, partial: true, usageMetadata: { totalTokenCount: 2 } },
  ]);
  expect(whole).toEqual({
    content: { role: 'model', parts: [{ text: 'a' }] },
    finishReason: 'STOP',
    groundingMetadata: { webSearchQueries: [] },
    avgLogprobs: -1,
    usageMetadata: { totalTokenCount: 4 },
    modelVersion: 'v',
  });
});

it('has nothing to say about a stream of nothing', () => {
  expect(fold()).toEqual({ partials: [], whole: undefined });
});

it('says in the whole exactly what the partials said', () => {
  const part = fc.oneof(
    fc.record({ text: fc.string(), thought: fc.constantFrom(true, false) }),
    fc.record({ text: fc.string() }),
    fc.record({
      functionCall: fc.record({ name: fc.constant('f'), args: fc.dictionary(fc.string(), fc.jsonValue()) }),
    }),
  );
  const spoken = (parts: readonly Part[]): string[] =>
    parts.flatMap((one) =>
      one.functionCall
        ? [JSON.stringify(one.functionCall)]
        : (one.text ?? '').split('').map((letter) => (one.thought ? 'thought ' : 'text ') + letter),
    );
  fc.assert(
    fc.property(fc.array(fc.array(part)), (chunks) => {
      const { partials, whole } = fold(...chunks.map((parts) => partsChunk(...parts)));

      expect(spoken(whole?.content?.parts ?? [])).toEqual(spoken(partials.flatMap((one) => one.content?.parts ?? [])));
    }),
  );
});
