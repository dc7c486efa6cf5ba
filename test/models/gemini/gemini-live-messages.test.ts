import type { LiveServerMessage } from '@google/genai';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelResponse } from '../../../src/core/model.ts';
import { liveReader } from '../../../src/models/gemini/gemini-live-messages.ts';

/** What a conversation of these messages is read as. */
function read(...messages: readonly object[]): ModelResponse[] {
  const reader = liveReader();
  return messages.flatMap((message) => reader.read(message as LiveServerMessage));
}
const content = (serverContent: object): object => ({ serverContent });
const text = (...parts: object[]): object => content({ modelTurn: { role: 'model', parts } });
const fragment = (...parts: object[]): object => ({ content: { role: 'model', parts }, partial: true });
const whole = (...parts: object[]): object => ({ content: { role: 'model', parts } });

it.each<[string, object[], object[]]>([
  ['says nothing of the setup', [{ setupComplete: { sessionId: 's' } }, { voiceActivity: {} }], []],
  [
    'shows text in fragments and whole, thoughts apart',
    [
      text({ text: 'hm', thought: true }),
      text({ text: 'He' }),
      text({ text: 'llo' }),
      content({ generationComplete: true }),
    ],
    [
      fragment({ text: 'hm', thought: true }),
      fragment({ text: 'He' }),
      fragment({ text: 'llo' }),
      whole({ text: 'hm', thought: true }, { text: 'Hello' }),
    ],
  ],
  [
    'shows sound in fragments only',
    [text({ inlineData: { mimeType: 'audio/pcm', data: 'AA==' } }), content({ turnComplete: true })],
    [fragment({ inlineData: { mimeType: 'audio/pcm', data: 'AA==' } }), { turnComplete: true }],
  ],
  [
    'keeps code and its result in the whole',
    [
      text({ executableCode: { code: '1' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK' } }),
      content({ turnComplete: true }),
    ],
    [
      fragment({ executableCode: { code: '1' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK' } }),
      whole({ executableCode: { code: '1' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK' } }),
      { turnComplete: true },
    ],
  ],
  [
    'ends a transcription where the provider says so',
    [content({ inputTranscription: { text: 'a' } }), content({ inputTranscription: { text: 'b', finished: true } })],
    [
      { inputTranscription: { text: 'a', finished: false }, partial: true },
      { inputTranscription: { text: 'b', finished: false }, partial: true },
      { inputTranscription: { text: 'ab', finished: true } },
    ],
  ],
  [
    'ends a transcription without new text',
    [content({ outputTranscription: { text: 'a' } }), content({ outputTranscription: { finished: true } })],
    [
      { outputTranscription: { text: 'a', finished: false }, partial: true },
      { outputTranscription: { text: 'a', finished: true } },
    ],
  ],
  [
    'tells question before answer when the turn is over',
    [
      content({ outputTranscription: { text: 'A' } }),
      content({ inputTranscription: { text: 'Q' } }),
      content({ turnComplete: true }),
    ],
    [
      { outputTranscription: { text: 'A', finished: false }, partial: true },
      { inputTranscription: { text: 'Q', finished: false }, partial: true },
      { inputTranscription: { text: 'Q', finished: true } },
      { outputTranscription: { text: 'A', finished: true } },
      { turnComplete: true },
    ],
  ],
  [
    'tells what was said before it was interrupted',
    [text({ text: 'Once' }), content({ interrupted: true }), content({ turnComplete: true, turnCompleteReason: 'X' })],
    [
      fragment({ text: 'Once' }),
      whole({ text: 'Once' }),
      { interrupted: true },
      { turnComplete: true, turnCompleteReason: 'X' },
    ],
  ],
  [
    'gives grounding with the text it is for, or else with the end',
    [
      content({ groundingMetadata: { a: 1 }, modelTurn: { parts: [{ text: 'x' }] } }),
      content({ turnComplete: true }),
      content({ groundingMetadata: { a: 2 } }),
      content({ turnComplete: true }),
    ],
    [
      fragment({ text: 'x' }),
      { ...whole({ text: 'x' }), groundingMetadata: { a: 1 } },
      { turnComplete: true },
      { turnComplete: true, groundingMetadata: { a: 2 } },
    ],
  ],
  [
    'counts in the words of other calls',
    [
      {
        usageMetadata: {
          promptTokenCount: 1,
          responseTokenCount: 2,
          totalTokenCount: 3,
          responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 2 }],
        },
      },
    ],
    [
      {
        usageMetadata: {
          promptTokenCount: 1,
          candidatesTokenCount: 2,
          totalTokenCount: 3,
          candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 2 }],
        },
      },
    ],
  ],
  [
    'hands calls and their cancellation on',
    [
      { toolCall: { functionCalls: [{ id: '1', name: 'f', args: { a: 1 } }] } },
      { toolCallCancellation: { ids: ['1'] } },
    ],
    [whole({ functionCall: { id: '1', name: 'f', args: { a: 1 } } }), { toolCallCancellation: { ids: ['1'] } }],
  ],
  [
    'hands on what concerns the connection',
    [{ sessionResumptionUpdate: { newHandle: 'h', resumable: true } }, { goAway: { timeLeft: '9s' } }],
    [
      { liveSessionResumptionUpdate: { newHandle: 'h', resumable: true }, partial: true },
      { goAway: { timeLeft: '9s' }, partial: true },
    ],
  ],
  [
    'names what it does not know',
    [{ news: 1 }, {}],
    [
      { errorCode: 'UNKNOWN_SERVER_MESSAGE', errorMessage: 'Unknown server message: news' },
      { errorCode: 'UNKNOWN_SERVER_MESSAGE', errorMessage: 'Unknown server message: empty' },
    ],
  ],
])('%s', (_title, messages, responses) => {
  expect(read(...messages)).toEqual(responses);
});

it('knows whether an answer has begun and not ended', () => {
  const reader = liveReader();
  const after = (message: object): boolean => {
    reader.read(message as LiveServerMessage);
    return reader.isAnswering;
  };

  expect(after(content({ inputTranscription: { text: 'x' } }))).toBe(false);
  expect(after({ toolCall: { functionCalls: [{ name: 'f' }] } })).toBe(true);
  expect(after(content({ generationComplete: true }))).toBe(true);
  expect(after(content({ turnComplete: true }))).toBe(false);
});

it('loses no word, whatever order the pieces come in', () => {
  const piece = fc.oneof(
    fc.string({ minLength: 1 }).map((value) => ({ said: value, message: text({ text: value }) })),
    fc
      .string({ minLength: 1 })
      .map((value) => ({ heard: value, message: content({ inputTranscription: { text: value } }) })),
    fc
      .constantFrom('generationComplete', 'turnComplete', 'interrupted')
      .map((end) => ({ message: content({ [end]: true }) })),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const reader = liveReader();
      const messages = pieces.map(({ message }) => message as LiveServerMessage);
      const responses = [...messages.flatMap((message) => reader.read(message)), ...reader.flush()];
      const wholes = responses.filter(({ partial }) => !partial);
      const said = wholes.flatMap((response) => response.content?.parts ?? []).map((part) => part.text);
      const heard = wholes.map((response) => response.inputTranscription?.text);
      expect(said.join('')).toBe(pieces.map((one) => ('said' in one ? one.said : '')).join(''));
      expect(heard.join('')).toBe(pieces.map((one) => ('heard' in one ? one.heard : '')).join(''));
    }),
  );
});
