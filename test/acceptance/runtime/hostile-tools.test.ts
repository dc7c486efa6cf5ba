import { expect, it } from 'vitest';
import { lastResponses } from '../../support/gemini-request.ts';
import { type Conversation, outline } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';
import { responsesIn } from './requests.ts';

const bed = await openBed();

/** Has the model call these tools in one answer and gives what it was told of them. */
async function call(chat: Conversation, names: readonly string[], more = {}): Promise<unknown[]> {
  bed.double.forget();
  bed.double.answerInTurn({ calls: names.map((name) => ({ name })) }, 'I see.');
  const events = await chat.say('go', more);
  expect(outline(events).at(-1)).toBe('hostile: I see.');
  return lastResponses(bed.double.bodies[1]!).map(({ response }) => response);
}

it.each([
  ['throws', { error: 'Broken inside' }],
  ['rejects', { error: 'Broken later' }],
  ['throws_text', { error: 'just text' }],
  ['nothing', { result: null }],
  ['null', { result: null }],
  ['list', { result: [1, 2] }],
  ['never', { error: expect.stringContaining('did not answer') }],
  ['patient', { error: expect.stringContaining('did not answer') }],
])('gives the model an answer when a tool %s', async (name, response) => {
  const chat = await bed.chat('hostile');

  expect(await call(chat, [name])).toEqual([response]);
  expect(await call(chat, ['counts'])).toMatchObject([{ open: 0 }]);
});

it('makes an answer of what JSON cannot say', async () => {
  const chat = await bed.chat('hostile');

  const [odd, circle] = await call(chat, ['odd', 'circle']);

  expect(odd).toMatchObject({ when: '1970-01-01T00:00:00.000Z' });
  expect(circle).toBeTypeOf('object');
  expect(responsesIn((await chat.session()).events)).toEqual([odd, circle]);
});

it('passes on an answer of 5 MB and goes on with the session', async () => {
  const chat = await bed.chat('hostile');

  const [huge] = (await call(chat, ['huge'])) as { text?: string }[];

  expect(JSON.stringify(huge).length).toBeGreaterThan(100);
  bed.double.answer(() => 'still here');
  expect(outline(await chat.say('hello?'))).toEqual(['hostile: still here']);
});

it('lets good tools answer beside bad ones, in the order of the calls', async () => {
  const responses = await call(await bed.chat('hostile'), ['never', 'list', 'throws', 'nothing']);

  expect(responses).toMatchObject([{ error: expect.anything() }, { result: [1, 2] }, { error: 'Broken inside' }, {}]);
});

it('limits the time of tools by the run configuration', async () => {
  const responses = await call(await bed.chat('hostile'), ['deaf'], { runConfig: { toolTimeoutMs: 50 } });

  expect(responses).toEqual([{ error: expect.stringContaining('0.05 s') }]);
});

it('runs no more calls at the same time than the run configuration says', async () => {
  const calls = Array.from({ length: 6 }, () => 'busy');
  const most = async (runConfig: object): Promise<number> => {
    const responses = (await call(await bed.chat('hostile'), calls, { runConfig })) as { result: number }[];
    return Math.max(...responses.map(({ result }) => result));
  };

  expect(await most({ toolExecutionMode: 'sequential' })).toBe(1);
  expect(await most({ maxParallelToolCalls: 2 })).toBe(2);
  expect(await most({})).toBe(6);
});

it('cancels a tool whose client leaves, and serves the session on', async () => {
  const chat = await bed.chat('hostile');
  bed.double.answerInTurn({ calls: [{ name: 'deaf' }] }, 'unheard');
  const stream = await chat.open('go');
  for await (const { data } of stream) if (JSON.stringify(data).includes('deaf')) break;
  stream.leave();

  bed.double.answer(() => 'still here');
  const events = await chat.say('hello?', { onBusy: 'interrupt' });

  expect(outline(events)).toEqual(['hostile: still here']);
  const { events: stored } = await chat.session();
  expect(responsesIn(stored)).toEqual([{ error: expect.any(String) }]);
});

it('ends a run that takes too long, answers its open call, and serves the session on', async () => {
  const chat = await bed.chat('hostile');
  bed.double.answerInTurn({ calls: [{ name: 'deaf' }] }, 'unheard');

  const { status, body } = await chat.run('go', { runConfig: { timeoutMs: 300 } });

  expect(status).toBe(504);
  expect(body).toMatchObject({ code: 'timed_out' });
  bed.double.answer(() => 'still here');
  expect(outline(await chat.say('hello?'))).toEqual(['hostile: still here']);
  expect(responsesIn((await chat.session()).events)).toEqual([{ error: expect.any(String) }]);
});

it('limits the model calls of a run, and serves the session on', async () => {
  const chat = await bed.chat('hostile');
  bed.double.answer(() => ({ calls: [{ name: 'list' }] }));

  const { status, body } = await chat.run('go', { runConfig: { maxLlmCalls: 3 } });

  expect(status).toBe(500);
  expect(body).toMatchObject({ code: 'LlmCallsLimitExceededException' });
  expect(bed.double.requests).toHaveLength(3);
  bed.double.answer(() => 'still here');
  expect(outline(await chat.say('hello?'))).toEqual(['hostile: still here']);
});

it('survives a promise that a tool forgot', async () => {
  const chat = await bed.chat('hostile');

  expect(await call(chat, ['stray'])).toEqual([{ result: 'ok' }]);
  expect(await call(chat, ['list'])).toEqual([{ result: [1, 2] }]);
});
