import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildContents } from '../../../src/agents/request/contents.ts';
import type { Content } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { answers, asks, callPart, outline, responsePart, stored } from '../../support/history.ts';

const build = (...events: Event[]): Content[] =>
  buildContents(events, { agent: 'a', branch: undefined, currentTurnOnly: false });
const shown = (...events: Event[]): string[] => outline(build(...events));
const user = (text: string): Event => stored('user', text);
const agent = (text: string): Event => stored('a', text);

it('leaves calls alone that are followed by their responses', () => {
  expect(shown(user('go'), asks('a', 'c1', 'c2'), answers('a', 'c1', 'c2'), agent('done'))).toEqual([
    'user: go',
    'model: f(c1) f(c2)',
    'user: f=c1 f=c2',
    'model: done',
  ]);
});

it('merges responses that came one by one, in call order', () => {
  expect(shown(user('go'), asks('a', 'c1', 'c2'), answers('a', 'c2'), answers('a', 'c1'), agent('done'))).toEqual([
    'user: go',
    'model: f(c1) f(c2)',
    'user: f=c1 f=c2',
    'model: done',
  ]);
});

it('moves a late response to its call and lets it replace the first one', () => {
  const first = stored('a', { role: 'user', parts: [responsePart('c1', { ticket: 1 })] });
  const late = stored('user', { role: 'user', parts: [responsePart('c1', { approved: true })] });

  const contents = build(user('go'), asks('a', 'c1'), first, agent('wait'), user('well?'), late, agent('done'));

  expect(outline(contents)).toEqual([
    'user: go',
    'model: f(c1)',
    'user: f=c1',
    'model: wait',
    'user: well?',
    'model: done',
  ]);
  expect(contents[2]?.parts[0]?.functionResponse?.response).toEqual({ approved: true });
});

it('leaves out what came between a call and the newest response to it', () => {
  const events = [user('go'), asks('a', 'c1', 'c2'), answers('a', 'c2'), agent('wait'), user('well?'), agent('soon')];

  expect(shown(...events, answers('user', 'c1'))).toEqual(['user: go', 'model: f(c1) f(c2)', 'user: f=c1 f=c2']);
});

it('keeps what the user says along with a response', () => {
  const both = stored('user', { role: 'user', parts: [responsePart('c1'), { text: 'here you are' }] });

  expect(shown(user('go'), asks('a', 'c1'), both)).toEqual([
    'user: go',
    'model: f(c1)',
    'user: f=c1',
    'user: here you are',
  ]);
});

it('says of calls nobody has answered that they wait', () => {
  expect(shown(user('go'), asks('a', 'c1', 'c2'), answers('a', 'c1'), user('well?'))).toEqual([
    'user: go',
    'model: f(c1) f(c2)',
    'user: f=c1 f=c2?',
    'user: well?',
  ]);
});

it('drops responses without a call', () => {
  expect(shown(user('go'), answers('a', 'c9'), agent('done'))).toEqual(['user: go', 'model: done']);
  expect(shown(answers('user', 'c9'))).toEqual([]);
});

it('says nothing of an answer to a call on a branch it does not see', () => {
  const asked = { ...asks('a', 'c1'), branch: 'sides.other' };
  const events = [user('go'), asked, answers('user', 'c1')];

  const contents = buildContents(events, { agent: 'a', branch: 'sides.a', currentTurnOnly: false });

  expect(outline(contents)).toEqual(['user: go']);
});

it('refuses a newest response whose call is not there', () => {
  expect(() => build(user('go'), agent('done'), answers('user', 'c9'))).toThrow(
    expect.objectContaining({ code: 'FunctionCallNotFound', message: expect.stringContaining('"c9"') }),
  );
});

it('gives a response to the newest call when an id is used again', () => {
  const call = (): Event => stored('a', { role: 'model', parts: [callPart('same')] });
  const response = (text: string): Event => stored('a', { role: 'user', parts: [responsePart('same', { text })] });

  const contents = build(call(), response('one'), user('again'), call(), user('wait'), response('two'));

  expect(contents.flatMap(({ parts }) => parts).flatMap((part) => part.functionResponse?.response ?? [])).toEqual([
    { text: 'one' },
    { text: 'two' },
  ]);
});

it('pairs calls and responses without ids by name', () => {
  const events = [
    user('go'),
    stored('a', { role: 'model', parts: [{ functionCall: { name: 'f' } }] }),
    user('wait'),
    stored('a', { role: 'user', parts: [{ functionResponse: { name: 'f', response: { n: 1 } } }] }),
    agent('done'),
  ];

  expect(shown(...events)).toEqual([
    'user: go',
    'model: f(undefined)',
    'user: f=undefined',
    'user: wait',
    'model: done',
  ]);
});

/** Steps of a conversation: call several tools, answer one of the open calls (again), chat, confirm. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('call' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('answer' as const), pick: fc.nat(), byUser: fc.boolean() }),
  fc.record({ kind: fc.constant('confirm' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('chat' as const), byUser: fc.boolean() }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The events of a conversation, with the number its newest answer carries for each call (0: none yet). */
function conversation(steps: readonly Step[]): { events: Event[]; newest: Map<string, number> } {
  const newest = new Map<string, number>();
  const events: Event[] = [user('go')];
  const answer = (author: string, id: string): void => {
    newest.set(id, events.length);
    events.push(stored(author, { role: 'user', parts: [responsePart(id, { n: events.length })] }));
  };
  for (const one of steps) {
    const ids = [...newest.keys()];
    const id = 'pick' in one ? ids[one.pick % Math.max(1, ids.length)] : undefined;
    if (one.kind === 'call') {
      const fresh = Array.from({ length: one.count }, (_, at) => `c${ids.length + at}`);
      for (const call of fresh) newest.set(call, 0);
      events.push(asks('a', ...fresh));
    } else if (one.kind === 'chat') events.push(one.byUser ? user('hm') : agent('hm'));
    else if (id !== undefined && one.kind === 'answer') answer(one.byUser ? 'user' : 'a', id);
    else if (id !== undefined) {
      const request = [callPart(`r-${id}`, 'adk_request_confirmation')];
      const verdict = [responsePart(`r-${id}`, {}, 'adk_request_confirmation')];
      events.push(stored('a', { role: 'user', parts: request }), stored('user', { role: 'user', parts: verdict }));
      answer('a', id);
    }
  }
  return { events, newest };
}

const callsIn = ({ parts }: Content) => parts.flatMap(({ functionCall }) => functionCall?.id ?? []);
const responsesIn = ({ parts }: Content) => parts.flatMap(({ functionResponse }) => functionResponse ?? []);

/** The ids each content calls, and those the content behind it answers. */
const pairs = (contents: readonly Content[]) => ({
  called: [[], ...contents.map(callsIn)],
  answered: [...contents.map((content) => responsesIn(content).map(({ id }) => id)), []],
});

it('pairs every call with one response, whatever the order of calls, answers and confirmations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { called, answered } = pairs(build(...conversation(steps).events));

      expect(answered).toEqual(called);
      expect(new Set(called.flat()).size).toBe(called.flat().length);
    }),
    { numRuns: 300 },
  );
});

it('shows every call and its newest response once the talk goes on, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { events, newest } = conversation(steps);

      const contents = build(...events, user('and now?'));

      const { called, answered } = pairs(contents);
      expect(answered).toEqual(called);
      expect(called.flat()).toEqual([...newest.keys()]);
      const shownNewest = contents.flatMap(responsesIn).map(({ id, response }) => [id, response['n'] ?? 0]);
      expect(shownNewest).toEqual([...newest]);
    }),
    { numRuns: 300 },
  );
});
