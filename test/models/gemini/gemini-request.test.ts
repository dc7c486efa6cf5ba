import { expect, it } from 'vitest';
import type { GenerateConfig } from '../../../src/core/model.ts';
import { toGeminiConfig, toGeminiContents, toGeminiDeclaration } from '../../../src/models/gemini/gemini-request.ts';
import type { Content, Part } from '../../../src/schemas/content.ts';

const developer = { vertex: false };
const vertex = { vertex: true };
const user = (...parts: Part[]): Content => ({ role: 'user', parts });
const media = { mimeType: 'image/png', data: 'aGk=' };
const file = { fileUri: 'gs://a/b' };

const parts: readonly [why: string, part: Part, expected: Part | undefined, onVertex?: Part][] = [
  ['an id of ours', { functionCall: { id: 'adk-1', name: 'f' } }, { functionCall: { name: 'f' } }],
  ['an empty id', { functionCall: { id: '', name: 'f' } }, { functionCall: { name: 'f' } }],
  ['an id of the model', { functionCall: { id: 'x', name: 'f' } }, { functionCall: { id: 'x', name: 'f' } }],
  [
    'an id of ours in an answer',
    { functionResponse: { id: 'adk-1', name: 'f', response: {} } },
    { functionResponse: { name: 'f', response: {} } },
  ],
  [
    'marks of streaming',
    { functionCall: { name: 'f', args: {}, partialArgs: [], willContinue: false } },
    { functionCall: { name: 'f', args: {} } },
  ],
  [
    'a name of media',
    { inlineData: { ...media, displayName: 'x.png' } },
    { inlineData: media },
    { inlineData: { ...media, displayName: 'x.png' } },
  ],
  [
    'a name of a file',
    { fileData: { ...file, displayName: 'x' } },
    { fileData: file },
    { fileData: { ...file, displayName: 'x' } },
  ],
  [
    'a name of media in an answer',
    { functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { ...media, displayName: 'x' } }] } },
    { functionResponse: { name: 'f', response: {}, parts: [{ inlineData: media }] } },
    { functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { ...media, displayName: 'x' } }] } },
  ],
  ['a lone signature', { thoughtSignature: 'c2ln' }, { text: '', thoughtSignature: 'c2ln' }],
  ['a part without payload', { videoMetadata: {} }, undefined],
];

it.each(parts)('sends %s as the service takes it', (_why, part, expected, onVertex = expected) => {
  const frozen = Object.freeze(part);

  const sent = (service: typeof vertex): unknown => toGeminiContents([user({ text: 'hi' }, frozen)], service)[0]?.parts;

  expect(sent(developer)).toEqual([{ text: 'hi' }, ...(expected ? [expected] : [])]);
  expect(sent(vertex)).toEqual([{ text: 'hi' }, ...(onVertex ? [onVertex] : [])]);
});

it('ends with a user turn, and leaves empty contents out', () => {
  const model: Content = { role: 'model', parts: [{ text: 'a' }] };

  expect(toGeminiContents([], developer)).toMatchObject([{ role: 'user', parts: [{ text: expect.any(String) }] }]);
  expect(toGeminiContents([user({ text: 'q' }), model, user()], developer).map((turn) => turn.role)).toEqual([
    'user',
    'model',
    'user',
  ]);
  expect(toGeminiContents([{ role: 'system', parts: [{ text: 'q' }] }], developer)).toEqual([user({ text: 'q' })]);
});

it('has a user turn before each turn with calls, also where an agent went on by itself', () => {
  const said: Content = { role: 'model', parts: [{ text: 'a' }] };
  const calls: Content = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
  const answer = user({ functionResponse: { name: 'f', response: {} } });
  const roles = (...contents: Content[]): (string | undefined)[] =>
    toGeminiContents(contents, developer).map((turn) => turn.role);

  expect(roles(user({ text: 'q' }), said, calls, answer)).toEqual(['user', 'model', 'user', 'model', 'user']);
  expect(roles(calls, answer)).toEqual(['user', 'model', 'user']);
  expect(roles(user({ text: 'q' }), calls, answer)).toEqual(['user', 'model', 'user']);
});

it('passes settings on, labels to Vertex only', () => {
  const config: GenerateConfig = { temperature: 1, labels: { a: 'b' }, safetySettings: [], systemInstruction: '' };

  expect(toGeminiConfig(config, developer)).toEqual({ temperature: 1, safetySettings: [] });
  expect(toGeminiConfig(config, vertex)).toEqual({ temperature: 1, safetySettings: [], labels: { a: 'b' } });
});

it('asks for JSON of a shape, as a Gemini schema or as JSON Schema', () => {
  const plain = { type: 'object', properties: { a: { type: 'string' } } };
  const map = { $schema: 'x', type: 'object', additionalProperties: { type: 'string' } };

  expect(toGeminiConfig({ responseSchema: plain }, developer)).toEqual({
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
  });
  expect(toGeminiConfig({ responseSchema: map }, developer)).toEqual({
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', additionalProperties: { type: 'string' } },
  });
});

it.each([
  [{ type: 'object', properties: {} }, {}],
  [{ type: 'object' }, {}],
  [
    { type: 'object', properties: { a: { type: 'string' } } },
    { parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } },
  ],
  [
    { type: 'object', properties: { a: {} }, $schema: 'x' },
    { parametersJsonSchema: { type: 'object', properties: { a: {} } } },
  ],
])('declares a function that takes %j', (parameters, expected) => {
  expect(toGeminiDeclaration({ name: 'f', description: 'd', parameters })).toEqual({
    name: 'f',
    description: 'd',
    ...expected,
  });
});
