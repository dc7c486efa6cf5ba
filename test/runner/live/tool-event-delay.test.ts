import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import { ToolEventDelay } from '../../../src/runner/live/tool-event-delay.ts';
import { type Event, newActions } from '../../../src/schemas/event.ts';

const event = (fields: Partial<Event>): Event => newEvent({ invocationId: 'e' }, 'a', fields);
const writing = event({ inputTranscription: { text: 'Q' }, partial: true });
const written = event({ inputTranscription: { text: 'Q', finished: true } });
const call = event({ content: { role: 'model', parts: [{ functionCall: { id: '1', name: 'f' } }] } });
const answer = event({
  content: { role: 'user', parts: [{ functionResponse: { id: '1', name: 'f', response: {} } }] },
});
const text = event({ content: { role: 'model', parts: [{ text: 'hi' }] } });

/** The order in which events come out that come in like this. */
function ordered(...events: readonly Event[]): Event[] {
  const delay = new ToolEventDelay();
  return [...events.flatMap((one) => delay.add(one)), ...delay.flush()];
}

it('keeps back what tools do until the question is written down', () => {
  expect(ordered(writing, call, answer, writing, written, text)).toEqual([
    writing,
    writing,
    written,
    call,
    answer,
    text,
  ]);
});

it('passes everything on while nobody is being written down', () => {
  expect(ordered(call, answer, writing, written, call, answer)).toEqual([call, answer, writing, written, call, answer]);
});

it.each([
  ['hands over', { actions: { ...newActions(), transferToAgent: 'b' } }],
  ['asks the user', { longRunningToolIds: ['1'] }],
  ['ends its agent’s turn', { actions: { ...newActions(), endOfAgent: true } }],
])('keeps nothing back once an event %s', (_title, fields) => {
  const urgent = event({ ...answer, id: 'urgent', ...fields });

  expect(ordered(writing, call, urgent, written)).toEqual([writing, call, urgent, written]);
});

it('keeps nothing back beyond the end of a turn, nor of the conversation', () => {
  const complete = event({ turnComplete: true });

  expect(ordered(writing, call, complete, answer)).toEqual([writing, call, complete, answer]);
});
