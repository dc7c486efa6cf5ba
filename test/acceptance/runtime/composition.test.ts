import { expect, it } from 'vitest';
import type { GeminiRequest } from '../../support/gemini-double.ts';
import { declarations, lastResponses, lastText, parameterNames, systemText } from '../../support/gemini-request.ts';
import { outline } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';
import { responsesIn } from './requests.ts';

const bed = await openBed();
const asks = (request: GeminiRequest, name: string): boolean => systemText(request.body).startsWith(`[${name}]`);
const hasResponses = (request: GeminiRequest): boolean => lastResponses(request.body).length > 0;

it('runs an agent as a tool in a session of its own, whose state and artifacts are the caller\u2019s', async () => {
  bed.double.answer((request) => {
    const name = asks(request, 'clerk') ? 'file' : 'clerk';
    return hasResponses(request) ? `${name} done` : { calls: [{ name, args: { request: 'File this.' } }] };
  });
  const chat = await bed.chat('composed', { state: { topic: 'bees' } });

  const events = await chat.say('boss');

  expect(outline(events)).toEqual(['boss: call clerk', 'boss: response clerk', 'boss: clerk done']);
  expect(responsesIn(events)).toEqual([{ result: 'file done' }]);
  expect(bed.double.bodies[1]?.contents).toEqual([{ role: 'user', parts: [{ text: 'File this.' }] }]);
  expect(lastResponses(bed.double.bodies[2]!)).toMatchObject([{ response: { version: 0, seen: 'bees' } }]);
  expect(events[1]?.actions).toMatchObject({ stateDelta: { filed: true }, artifactDelta: { 'note.txt': 0 } });
  expect((await chat.session()).state).toEqual({ topic: 'bees', filed: true });
  const { body } = await bed.server.fetchJson(`${chat.path}/artifacts/note.txt`);
  expect(body).toMatchObject({ text: 'Noted.' });
});

it('gives an agent with schemas typed arguments, and takes a typed answer', async () => {
  bed.double.answer((request) => {
    if (asks(request, 'adder')) return '{"sum":3}';
    return hasResponses(request) ? 'three' : { calls: [{ name: 'adder', args: { a: 1, b: 2 } }] };
  });
  const chat = await bed.chat('composed');

  const events = await chat.say('boss');

  const adder = declarations(bed.double.bodies[0]!).find(({ name }) => name === 'adder');
  expect(parameterNames(adder!)).toEqual(['a', 'b']);
  expect(JSON.parse(lastText(bed.double.bodies[1]!))).toEqual({ a: 1, b: 2 });
  expect(responsesIn(events)).toEqual([{ sum: 3 }]);
  expect((await chat.session()).state).toEqual({ last_sum: { sum: 3 } });
});

it.each([
  [{ a: 'one', b: 2 }, '{"sum":3}', 1],
  [{ a: 1, b: 2 }, 'three', 2],
])('tells the caller when arguments %j or the answer %s do not fit', async (args, answer, calls) => {
  bed.double.answer((request) => {
    if (asks(request, 'adder')) return answer;
    return hasResponses(request) ? 'sorry' : { calls: [{ name: 'adder', args }] };
  });

  const events = await (await bed.chat('composed')).say('boss');

  expect(responsesIn(events)).toEqual([{ error: expect.any(String) }]);
  expect(bed.double.requests).toHaveLength(calls + 1);
});

it('tells the caller when the model of an agent used as a tool fails', async () => {
  bed.double.answer((request) => {
    if (asks(request, 'clerk')) return { failure: { status: 400, message: 'no clerk today' } };
    return hasResponses(request) ? 'sorry' : { calls: [{ name: 'clerk', args: { request: 'x' } }] };
  });

  const events = await (await bed.chat('composed')).say('boss');

  expect(responsesIn(events)).toEqual([{ error: expect.stringContaining('no clerk today') }]);
  expect(outline(events).at(-1)).toBe('boss: sorry');
});

it('leaves the last word to an agent whose answer is not to be summed up', async () => {
  bed.double.answer((request) =>
    asks(request, 'teller') ? 'the story' : { calls: [{ name: 'teller', args: { request: 'x' } }] },
  );

  const events = await (await bed.chat('composed')).say('boss');

  expect(responsesIn(events)).toEqual([{ result: 'the story' }]);
  expect(events.at(-1)?.actions.skipSummarization).toBe(true);
  expect(bed.double.requests).toHaveLength(2);
});

it('repeats agents until one escalates, which still ends its turn', async () => {
  const chat = await bed.chat('composed');

  const events = await chat.say('rounds');

  expect(outline(events)).toEqual([
    'counter: round 1',
    'after: after',
    'counter: round 2',
    'after: after',
    'counter: round 3',
    'counter: tidied up',
  ]);
  expect((await chat.session()).state).toEqual({ round: 3 });
});

it('cancels agents beside one that escalates', async () => {
  const events = await (await bed.chat('composed')).say('race');

  expect(events.map(({ author, branch, actions }) => [author, branch, actions.escalate])).toEqual([
    ['quitter', 'race.quitter', true],
  ]);
});

it('ends the run with an error when an agent written as an object throws', async () => {
  const chat = await bed.chat('composed');

  const { status } = await chat.run('nobody');

  expect(status).toBe(500);
  expect(outline(await chat.say('rounds')).length).toBeGreaterThan(0);
});
