import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pairedTurns, type Turn } from '../../src/models/paired-turns.ts';
import type { Content, Part } from '../../src/schemas/content.ts';

const user = (...parts: Part[]): Content => ({ role: 'user', parts });
const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const call = (name: string, id?: string): Part => ({ functionCall: { name, ...(id ? { id } : {}) } });
const answer = (name: string, id?: string): Part => ({
  functionResponse: { name, ...(id ? { id } : {}), response: { from: name } },
});

const lines = (turns: readonly Turn[]): string[] =>
  turns.map(({ role, parts }) => {
    const told = parts.map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `call ${functionCall.name}#${functionCall.id}`;
      if (functionResponse) return `${'error' in functionResponse.response ? 'no ' : ''}answer#${functionResponse.id}`;
      return text;
    });
    return `${role}: ${told.join(', ')}`;
  });

it('joins what one side says in a row, and lets the user begin and end', () => {
  const turns = pairedTurns([
    model({ text: 'a' }),
    model({ text: 'b' }),
    user(),
    { parts: [{ text: 'c' }] },
    model({ text: 'd' }),
  ]);

  expect(lines(turns)).toEqual([
    expect.stringMatching(/^user: Please do/),
    'model: a, b',
    'user: c',
    'model: d',
    expect.stringMatching(/^user: Please go on/),
  ]);
  expect(lines(pairedTurns([]))).toEqual([expect.stringMatching(/^user: Please do/)]);
});

it('answers calls in their order, before anything else the user says', () => {
  const turns = pairedTurns([
    user({ text: 'q' }),
    model(call('f', 'adk-1'), call('g', 'adk-2')),
    user({ text: 'by the way' }, answer('g', 'adk-2')),
    user(answer('f', 'adk-1')),
  ]);

  expect(lines(turns)).toEqual([
    'user: q',
    'model: call f#adk-1, call g#adk-2',
    'user: answer#adk-1, answer#adk-2, by the way',
  ]);
});

it('pairs calls without ids by name, in order', () => {
  const turns = pairedTurns([user({ text: 'q' }), model(call('f'), call('f')), user(answer('f'), answer('f'))]);

  expect(lines(turns).slice(1)).toEqual([
    'model: call f#call_1_0, call f#call_1_1',
    'user: answer#call_1_0, answer#call_1_1',
  ]);
});

it('gives an unanswered call an error, and tells an answer without a call as text', () => {
  const turns = pairedTurns([
    user(answer('x', 'adk-9')),
    model(call('f', 'adk-1')),
    user({ text: 'never mind' }),
    model(call('g', 'adk-2')),
  ]);

  expect(lines(turns)).toEqual([
    'user: x answered: {"from":"x"}',
    'model: call f#adk-1',
    'user: no answer#adk-1, never mind',
    'model: call g#adk-2',
    'user: no answer#adk-2',
  ]);
});

it('makes ids of other providers fit', () => {
  const id = `weird id/${'x'.repeat(60)}`;
  const [, asked, told] = pairedTurns([user({ text: 'q' }), model(call('f', id)), user(answer('f', id))]);

  const sent = asked?.parts[0]?.functionCall?.id;
  expect(sent).toMatch(/^[\w-]{1,40}$/);
  expect(told?.parts[0]?.functionResponse?.id).toBe(sent);
});

it('always yields what the strictest provider accepts, and changes nothing it is given', () => {
  const id = fc.constantFrom(undefined, 'adk-1', 'adk-2', 'x/y');
  const part = fc.oneof(
    fc.record({ text: fc.string() }),
    fc.tuple(fc.constantFrom('f', 'g'), id).map(([name, one]) => call(name, one)),
    fc.tuple(fc.constantFrom('f', 'g'), id).map(([name, one]) => answer(name, one)),
  );
  const content = fc.record({ role: fc.constantFrom('user', 'model'), parts: fc.array(part) });
  fc.assert(
    fc.property(fc.array(content), (contents) => {
      const userCallsNothing = contents.map((one) =>
        one.role === 'user' ? { ...one, parts: one.parts.filter((each) => !('functionCall' in each)) } : one,
      );
      const before = JSON.stringify(userCallsNothing);

      const turns = pairedTurns(userCallsNothing);

      expect(JSON.stringify(userCallsNothing)).toBe(before);
      expect(turns.map((turn) => turn.role)).toEqual(turns.map((_, at) => (at % 2 === 0 ? 'user' : 'model')));
      expect(turns.length % 2).toBe(1);
      for (const [at, turn] of turns.entries()) {
        const ids = turn.parts.flatMap((one) => one.functionCall?.id ?? []);
        const next = turns[at + 1]?.parts ?? [];
        expect(next.slice(0, ids.length).map((one) => one.functionResponse?.id)).toEqual(ids);
      }
    }),
  );
});
