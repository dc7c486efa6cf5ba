import { expect, it } from 'vitest';
import type { GeminiReply } from '../../support/gemini-replies.ts';
import { lastResponses, transcript } from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { outline } from './conversation.ts';

const bed = await openBed({
  helped: {
    'root_agent.yaml': {
      name: 'helped',
      model: 'gemini-2.5-flash',
      instruction: 'Work.',
      tools: [{ name: 'load_memory' }],
    },
  },
});

const reasons = ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MALFORMED_FUNCTION_CALL', 'OTHER'];
const modes = ['say', 'stream'] as const;
const cases = reasons.flatMap((reason) => modes.map((mode) => [reason, mode] as const));

it.each(cases)('reports an answer without content that ended by %s as an error event (%s)', async (reason, mode) => {
  bed.double.answer(() => ({ withoutContent: true, finishReason: reason, finishMessage: 'not this' }));
  const chat = await bed.chat('helped');

  const events = await chat[mode]('hi');

  expect(events).toEqual([
    expect.objectContaining({ author: 'helped', errorCode: reason, errorMessage: expect.stringContaining('not this') }),
  ]);
  expect(outline((await chat.session()).events)).toEqual(['user: hi', `helped: error ${reason}`]);
  expect(bed.double.requests).toHaveLength(1);
});

it.each(modes)('reports a blocked prompt and an answer without candidates as error events (%s)', async (mode) => {
  bed.double.answerInTurn(
    { blockReason: 'PROHIBITED_CONTENT', blockMessage: 'never that' },
    { withoutCandidates: true },
  );
  const chat = await bed.chat('helped');

  const [blocked] = await chat[mode]('one');
  const [empty] = await chat[mode]('two');

  expect(blocked).toMatchObject({
    errorCode: 'PROHIBITED_CONTENT',
    errorMessage: expect.stringContaining('never that'),
  });
  expect(empty).toMatchObject({ errorCode: expect.stringMatching(/\S/), errorMessage: expect.stringMatching(/\S/) });
});

it.each(modes)('keeps the text of an answer that ran out of tokens, and says so (%s)', async (mode) => {
  bed.double.answer(() => ({ text: 'half an ans', finishReason: 'MAX_TOKENS' }));
  const chat = await bed.chat('helped');

  const event = (await chat[mode]('hi')).at(-1);

  expect(event).toMatchObject({
    content: { parts: [{ text: 'half an ans' }] },
    finishReason: 'MAX_TOKENS',
  });
  expect(event).not.toHaveProperty('errorCode');
  expect(event).not.toHaveProperty('partial');
});

it.each(modes)('refuses the calls of an answer that ran out of tokens, and tells the model (%s)', async (mode) => {
  const truncated: GeminiReply = {
    calls: [{ name: 'load_memory', args: { query: 'hal' } }],
    finishReason: 'MAX_TOKENS',
  };
  bed.double.answerInTurn(truncated, 'in short, then', 'better now');
  const chat = await bed.chat('helped');

  const events = (await chat[mode]('hi')).filter((event) => !event.partial);
  await chat[mode]('again');

  expect(outline(events)).toEqual([
    'helped: call load_memory',
    'helped: response load_memory',
    'helped: in short, then',
  ]);
  expect(lastResponses(bed.double.bodies[1]!)).toEqual([
    { name: 'load_memory', response: { error: expect.stringMatching(/not run/) } },
  ]);
  expect(transcript(bed.double.bodies[2]!).slice(-2)).toEqual(['model: in short, then', 'user: again']);
});

it('leaves an error event out of what the model is sent next', async () => {
  bed.double.answerInTurn({ withoutContent: true, finishReason: 'SAFETY' }, 'fine');
  const chat = await bed.chat('helped');
  await chat.say('bad');

  await chat.say('good');

  expect(transcript(bed.double.bodies[1]!).every((line) => line.startsWith('user: '))).toBe(true);
});

it('ends a turn whose answer is empty', async () => {
  bed.double.answer(() => ({ text: '' }));
  const chat = await bed.chat('helped');

  await chat.say('hi');
  await chat.stream('hi');

  expect(bed.double.requests).toHaveLength(2);
});

it('stops a model that never stops calling, at the limit of the run', async () => {
  bed.double.answer(() => ({ calls: [{ name: 'load_memory', args: { query: 'again' } }] }));
  const chat = await bed.chat('helped');

  const { status, body } = await chat.run('hi', { runConfig: { maxLlmCalls: 3 } });

  expect(bed.double.requests).toHaveLength(3);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body).toMatchObject({ code: 'LlmCallsLimitExceededException' });
});
