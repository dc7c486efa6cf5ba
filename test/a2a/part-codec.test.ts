import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromA2aPart, longRunningIdsIn, toA2aPart } from '../../src/a2a/part-codec.ts';
import type { Part } from '../../src/schemas/content.ts';

const base64 = fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), json);
const thought = fc.constantFrom({}, { thought: true });
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ inlineData: fc.record({ mimeType: fc.constant('image/png'), data: base64, displayName: fc.string() }) }),
  fc.record({ fileData: fc.record({ fileUri: fc.webUrl(), mimeType: fc.constant('text/csv') }) }),
  fc.record({ functionCall: fc.record({ id: fc.string(), name: fc.string(), args: object }) }),
  fc.record({ functionResponse: fc.record({ id: fc.string(), name: fc.string(), response: object }) }),
  fc.record({ executableCode: fc.record({ code: fc.string(), language: fc.constant('PYTHON') }) }),
  fc.record({ codeExecutionResult: fc.record({ outcome: fc.constant('OUTCOME_OK'), output: fc.string() }) }),
);

it('brings every part there and back', () => {
  fc.assert(
    fc.property(part, (one) => {
      const sent = toA2aPart(one);
      expect(sent && fromA2aPart(JSON.parse(JSON.stringify(sent)))).toEqual(one);
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.string(), thought, (text, modifier) => {
      expect(fromA2aPart(toA2aPart({ text, ...modifier }) ?? {})).toEqual({ text, ...modifier });
    }),
  );
});

it('brings data of no known type there and back, inside a text file', () => {
  fc.assert(
    fc.property(json, (data) => {
      const here = fromA2aPart({ data });
      expect(here?.inlineData?.mimeType).toBe('text/plain');
      expect(here && toA2aPart(here)).toEqual({ data });
    }),
    { numRuns: 200 },
  );
});

it('sends a text file as the file it is', () => {
  const data = Buffer.from('<a2a_datapart_json>{broken').toString('base64');

  expect(toA2aPart({ inlineData: { mimeType: 'text/plain', data } })).toEqual({ raw: data, mediaType: 'text/plain' });
});

it('reads thoughts under both names', () => {
  expect(fromA2aPart({ text: 'a', metadata: { thought: true } })).toEqual({ text: 'a', thought: true });
  expect(fromA2aPart({ text: 'a', metadata: { adk_thought: true } })).toEqual({ text: 'a', thought: true });
});

it.each([
  ['a call without a name', { data: { id: 'c' }, metadata: { adk_type: 'function_call' } }],
  ['an answer that is a text', { data: 'x', metadata: { adk_type: 'function_response' } }],
])('refuses %s', (_, one) => {
  expect(() => fromA2aPart(one)).toThrow(expect.objectContaining({ code: 'MessageConversionException' }));
});

it('leaves out parts that say nothing', () => {
  expect(fromA2aPart({})).toBeUndefined();
  expect(toA2aPart({ thoughtSignature: 'x' })).toBeUndefined();
});

it('finds the calls that are answered later', () => {
  const call = (id: unknown, isLong: unknown) => ({
    data: { id, name: 'n' },
    metadata: { adk_type: 'function_call', adk_is_long_running: isLong },
  });

  expect(longRunningIdsIn([call('a', true), call('b', false), call(5, true), { text: 'x' }])).toEqual(['a']);
});
