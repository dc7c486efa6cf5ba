import { expect, it } from 'vitest';
import { systemText, transcript } from '../../support/gemini-request.ts';
import { apiKey, openBed } from './bed.ts';
import { outline } from './conversation.ts';

const bed = await openBed({
  plain: {
    'root_agent.yaml': {
      name: 'plain_agent',
      model: 'gemini-2.5-flash',
      description: 'Answers plainly.',
      instruction: 'You answer in one word.',
    },
  },
  tuned: {
    'root_agent.yaml': `
name: tuned
model: gemini-2.5-pro
instruction: Be exact.
generate_content_config:
  temperature: 0.25
  top_p: 0.5
  top_k: 3
  max_output_tokens: 77
  stop_sequences: [END]
  seed: 11
  presence_penalty: 0.125
  frequency_penalty: 0.375
  response_mime_type: text/plain
  labels: { team: red }
  thinking_config: { include_thoughts: true, thinking_budget: 64 }
  safety_settings:
    - { category: HARM_CATEGORY_HARASSMENT, threshold: BLOCK_ONLY_HIGH }
`,
  },
  camel: {
    'root_agent.yaml': `
name: camel
model: gemini-2.5-flash
instruction: Be exact.
generateContentConfig:
  maxOutputTokens: 5
`,
  },
});

it('sends the key, the model and the instruction, and nothing about other agents, for a single agent', async () => {
  bed.double.answer(() => 'yes');
  const chat = await bed.chat('plain');

  await chat.say('Is it?');

  expect(bed.double.requests).toHaveLength(1);
  expect(bed.double.requests[0]).toMatchObject({
    model: 'gemini-2.5-flash',
    streaming: false,
    headers: { 'x-goog-api-key': apiKey },
  });
  expect(systemText(bed.double.bodies[0]!)).toBe('You answer in one word.');
  expect(bed.double.bodies[0]!.contents).toEqual([{ role: 'user', parts: [{ text: 'Is it?' }] }]);
  expect(bed.double.bodies[0]).not.toHaveProperty('tools');
});

it('gives the answer as one whole event with what the model said about it', async () => {
  const usage = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 9, thoughtsTokenCount: 2 };
  bed.double.answer(() => ({ text: 'yes', usage, candidate: { avgLogprobs: -0.5 } }));
  const chat = await bed.chat('plain');

  const events = await chat.say('Is it?');

  expect(events).toEqual([
    expect.objectContaining({
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-/),
      invocationId: expect.stringMatching(/^e-[\da-f]{8}-/),
      author: 'plain_agent',
      content: { role: 'model', parts: [{ text: 'yes' }] },
      finishReason: 'STOP',
      usageMetadata: expect.objectContaining(usage),
      modelVersion: 'gemini-2.5-flash',
      avgLogprobs: -0.5,
      actions: expect.objectContaining({ stateDelta: {}, artifactDelta: {} }),
    }),
  ]);
  expect(events[0]).not.toHaveProperty('partial');
  expect(events[0]).not.toHaveProperty('errorCode');
});

it('sends the whole history of the session, in turns, with every message', async () => {
  bed.double.answer((request) => `answer ${request.index + 1}`);
  const chat = await bed.chat('plain');

  for (const message of ['one', 'two', 'three']) await chat.say(message);

  expect(transcript(bed.double.bodies[2]!)).toEqual([
    'user: one',
    'model: answer 1',
    'user: two',
    'model: answer 2',
    'user: three',
  ]);
  expect(outline((await chat.session()).events)).toEqual([
    'user: one',
    'plain_agent: answer 1',
    'user: two',
    'plain_agent: answer 2',
    'user: three',
    'plain_agent: answer 3',
  ]);
});

it('keeps the sessions of one user apart', async () => {
  bed.double.answer(() => 'noted');
  const first = await bed.chat('plain', { userId: 'ann' });
  const second = await bed.chat('plain', { userId: 'ann' });

  await first.say('my secret is blue');
  await second.say('what is it?');

  expect(transcript(bed.double.bodies[1]!)).toEqual(['user: what is it?']);
});

it('sends media of the user without the fields that only we know', async () => {
  bed.double.answer(() => 'a dot');
  const chat = await bed.chat('plain');

  await chat.say([
    { text: 'What is this?' },
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=', displayName: 'dot.png' } as never },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.com/a.pdf' } },
  ]);

  expect(bed.double.bodies[0]!.contents?.[0]?.parts).toEqual([
    { text: 'What is this?' },
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.com/a.pdf' } },
  ]);
});

it('sends text of any script unchanged', async () => {
  const message = 'Größe 大きさ 👩‍👩‍👧 \u2028 "quoted" {not_a_variable} \\ </script>';
  bed.double.answer((request) => request.body.contents?.[0]?.parts?.[0]?.text ?? '');
  const chat = await bed.chat('plain');

  const [event] = await chat.say(message);

  expect(transcript(bed.double.bodies[0]!)).toEqual([`user: ${message}`]);
  expect(event?.content?.parts).toEqual([{ text: message }]);
});

it('sends the generation settings of the agent, without those an API key does not allow', async () => {
  bed.double.answer(() => 'ok');

  await (await bed.chat('tuned')).say('hi');
  await (await bed.chat('camel')).say('hi');

  expect(bed.double.requests[0]!.model).toBe('gemini-2.5-pro');
  expect(bed.double.bodies[0]!.generationConfig).toEqual({
    temperature: 0.25,
    topP: 0.5,
    topK: 3,
    maxOutputTokens: 77,
    stopSequences: ['END'],
    seed: 11,
    presencePenalty: 0.125,
    frequencyPenalty: 0.375,
    responseMimeType: 'text/plain',
    thinkingConfig: { includeThoughts: true, thinkingBudget: 64 },
  });
  expect(bed.double.bodies[0]!.safetySettings).toEqual([
    { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' },
  ]);
  expect(bed.double.bodies[1]!.generationConfig).toEqual({ maxOutputTokens: 5 });
});

it('shows the thoughts of the model but takes them for no answer', async () => {
  bed.double.answerInTurn({ thought: 'let me see', text: 'yes', thoughtSignature: 'c2lnbmF0dXJl' }, 'again yes');
  const chat = await bed.chat('plain');

  const [event] = await chat.say('Is it?');
  await chat.say('Sure?');

  expect(event?.content?.parts).toEqual([
    { text: 'let me see', thought: true },
    { text: 'yes', thoughtSignature: 'c2lnbmF0dXJl' },
  ]);
  const sentBack = bed.double.bodies[1]!.contents?.[1]?.parts ?? [];
  expect(sentBack.at(-1)).toEqual({ text: 'yes', thoughtSignature: 'c2lnbmF0dXJl' });
});
