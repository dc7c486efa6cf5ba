import { expect, it } from 'vitest';
import { lastResponses, systemText } from '../../support/gemini-request.ts';
import { outline, type WireEvent } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';
import { answerTo, askedIn } from './requests.ts';

const bed = await openBed();

/** Each agent calls its tool first, if it has one, and then says that it is done. */
function answerAsAgents(): void {
  const tools: Record<string, string> = { payer: 'pay', second: 'pay', worker: 'job' };
  bed.double.answer(({ body }) => {
    const name = /^\[(\w+)\]/.exec(systemText(body))?.[1] ?? '';
    const tool = tools[name];
    return tool && lastResponses(body).length === 0 ? { calls: [{ name: tool }] } : `${name} done`;
  });
}

/** The newest call of the long-running tool. */
function jobIn(events: readonly WireEvent[]): { id: string; name: string } {
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  const call = parts.findLast(({ functionCall }) => functionCall?.name === 'job')?.functionCall;
  return { id: call?.id ?? '', name: 'job' };
}

it('pauses where the user is asked and goes on from there, in an app that can be resumed', async () => {
  answerAsAgents();
  const chat = await bed.chat('resumable');

  const first = await chat.say('go');
  const second = await chat.say(answerTo(askedIn(first)[0]!, { confirmed: true }));

  const third = await chat.say(answerTo(jobIn(second), { finished: true }));
  const fourth = await chat.say(answerTo(jobIn(third), { finished: true }));

  expect(outline(first)).toEqual(['payer: call pay', 'payer: response pay', 'payer: call adk_request_confirmation']);
  expect(outline(second).slice(0, 2)).toEqual(['payer: response pay', 'payer: payer done']);
  expect(outline(second).slice(2).toSorted()).toEqual([
    'other: other done',
    'worker: call job',
    'worker: response job',
  ]);
  expect(outline(third)).toEqual(['worker: worker done', 'worker: call job', 'worker: response job']);
  expect(outline(fourth)).toEqual(['worker: worker done', 'closer: closer done']);
});

it('waits for every agent that asked before it goes on', async () => {
  answerAsAgents();
  const chat = await bed.chat('both');
  const asked = askedIn(await chat.say('go'));

  const one = await chat.say(answerTo(asked[1]!, { confirmed: true }));
  const two = await chat.say(answerTo(asked[0]!, { confirmed: false }));

  expect(asked).toHaveLength(2);
  expect(outline(one)).toHaveLength(2);
  expect(outline(two).at(-1)).toBe('closer: closer done');
  expect(outline(two)).toHaveLength(3);
});

it('runs the agents after one that asks when the app cannot be resumed, and only that one on the answer', async () => {
  answerAsAgents();
  const chat = await bed.chat('plain_line');

  const first = await chat.say('go');
  const second = await chat.say(answerTo(askedIn(first)[0]!, { confirmed: true }));

  expect(outline(first).slice(-2)).toEqual(['payer: call adk_request_confirmation', 'closer: closer done']);
  expect(outline(second)).toEqual(['payer: response pay', 'payer: payer done']);
});
