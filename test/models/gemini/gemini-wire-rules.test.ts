import { expect, it } from 'vitest';
import type { GeminiBody, GeminiContent } from '../../support/gemini-request.ts';
import { wireFaults } from '../../support/gemini-wire-rules.ts';

const user = { role: 'user', parts: [{ text: 'hi' }] };
const call = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
const response = { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] };
const withTools = (...functionDeclarations: GeminiTools): GeminiBody => ({
  contents: [user],
  tools: [{ functionDeclarations }],
});
type GeminiTools = NonNullable<NonNullable<GeminiBody['tools']>[number]['functionDeclarations']>;

it('finds no fault in a conversation with calls, responses and declarations', () => {
  const body: GeminiBody = {
    ...withTools(
      { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] } },
      { name: 'g', parametersJsonSchema: { type: 'object', properties: {} } },
      { name: 'h' },
    ),
    contents: [user, call, response, { role: 'model', parts: [{ text: 'done' }] }, user],
    systemInstruction: { parts: [{ text: 'be brief' }] },
    generationConfig: { temperature: 0.5 },
  };

  expect(wireFaults(body)).toEqual([]);
});

const turns: [string, GeminiContent[], RegExp][] = [
  ['no contents', [], /contents is not specified/],
  ['a foreign role', [{ role: 'function', parts: user.parts }], /valid role/],
  ['a content without parts', [{ role: 'user', parts: [] }], /must not be empty/],
  ['a model turn at the end', [user, { role: 'model', parts: user.parts }], /last turn is a user turn/],
  [
    'a call after a model turn',
    [user, { role: 'model', parts: user.parts }, call, response],
    /immediately after a user turn/,
  ],
  ['a call without its response', [user, call, user], /number of function response parts/],
  ['a response without its call', [user, response], /number of function response parts/],
  ['a part with two payloads', [{ role: 'user', parts: [{ text: 'a', fileData: { fileUri: 'b' } }] }], /oneof/],
  ['a part with none', [{ role: 'user', parts: [{}] }], /oneof/],
];
it.each(turns)('refuses %s', (_title, contents, fault) => {
  expect(wireFaults({ contents }).join('\n')).toMatch(fault);
});

const tools: [string, GeminiBody, RegExp][] = [
  ['a bad function name', withTools({ name: '1 f' }), /Invalid function name/],
  ['a function declared twice', withTools({ name: 'f' }, { name: 'f' }), /Duplicate/],
  ['lower-case types in parameters', withTools({ name: 'f', parameters: { type: 'object' } }), /parameters.type/],
  ['an object without properties', withTools({ name: 'f', parameters: { type: 'OBJECT' } }), /non-empty for OBJECT/],
  [
    'JSON Schema keywords in parameters',
    withTools({ name: 'f', parameters: { type: 'STRING', $schema: 'x' } }),
    /Unknown name "\$schema"/,
  ],
  [
    'both schema dialects',
    withTools({ name: 'f', parameters: { type: 'STRING' }, parametersJsonSchema: {} }),
    /mutually exclusive/,
  ],
  ['labels', { contents: [user], labels: { a: 'b' } }, /Unknown name "labels"/],
  ['an unknown setting', { contents: [user], generationConfig: { top_q: 1 } }, /Unknown name "top_q"/],
];
it.each(tools)('refuses %s', (_title, body, fault) => {
  expect(wireFaults(body).join('\n')).toMatch(fault);
});
