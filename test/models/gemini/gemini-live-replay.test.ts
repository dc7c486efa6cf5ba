import { expect, it } from 'vitest';
import type { LiveInput } from '../../../src/core/model.ts';
import { ReplayBuffer } from '../../../src/models/gemini/gemini-live-replay.ts';

const message = (text: string): LiveInput => ({ kind: 'content', content: { role: 'user', parts: [{ text }] } });
const sound = (size: number, mark = 'A'): LiveInput => ({
  kind: 'blob',
  blob: { mimeType: 'audio/pcm', data: mark.repeat(size) },
});
const update = (newHandle: string, resumable = true) => ({
  liveSessionResumptionUpdate: { newHandle, resumable },
  partial: true,
});
const spoke = (text: string) => ({ outputTranscription: { text, finished: true } });

it('says everything again while there is no handle, and asks only what has no answer', () => {
  const memory = new ReplayBuffer(undefined);

  memory.sent(message('Who?'));
  memory.received({ ...spoke('Me'), partial: true });
  memory.received(spoke('Me.'));
  memory.received({ turnComplete: true });
  memory.sent(message('Why?'));

  expect(memory.isAnswerDue).toBe(true);
  expect(memory.replay()).toEqual({
    history: [
      { role: 'user', parts: [{ text: 'Who?' }] },
      { role: 'model', parts: [{ text: 'Me.' }] },
    ],
    inputs: [message('Why?')],
  });
});

it('leaves to the provider what came before a handle', () => {
  const memory = new ReplayBuffer(undefined);

  memory.sent(message('Who?'));
  memory.received(spoke('Me.'));
  memory.received({ turnComplete: true });
  memory.received(update('h-1'));
  memory.sent(sound(3));

  expect(memory.handle).toBe('h-1');
  expect(memory.replay()).toEqual({ history: [], inputs: [sound(3)] });
});

it('asks a question again that has no answer, though a handle came after it', () => {
  const memory = new ReplayBuffer({ handle: 'h-0' });

  memory.sent(sound(3));
  memory.sent(message('Who?'));
  memory.received(update('h-1'));

  expect(memory.replay()).toEqual({ history: [], inputs: [message('Who?')] });
});

it.each([update('', true), update('h-2', false)])('takes no handle from %j', (response) => {
  const memory = new ReplayBuffer({ handle: 'h-1' });

  memory.received(response);

  expect(memory.handle).toBe('h-1');
});

it('remembers the last half minute of sound, and all messages', () => {
  const memory = new ReplayBuffer(undefined);

  memory.sent(message('Listen:'));
  for (const mark of ['1', '2', '3']) memory.sent(sound(500_000, mark));

  expect(memory.replay().inputs).toEqual([message('Listen:'), sound(500_000, '2'), sound(500_000, '3')]);
});

it('takes no handle when resumption is off', () => {
  const memory = new ReplayBuffer(false);

  memory.received(update('h-1'));

  expect(memory.handle).toBeUndefined();
});
