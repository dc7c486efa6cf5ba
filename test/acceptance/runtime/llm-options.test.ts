import { expect, it } from 'vitest';
import { declarations, lastResponses, systemText, toolNames, transcript } from '../../support/gemini-request.ts';
import { outline, textOf } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';

const bed = await openBed();

it('fills in the global instruction and takes what a provider says as it is', async () => {
  bed.double.answer(() => 'ok');

  await (await bed.chat('briefed', { state: { name: 'Ada' } })).say('hi');

  const system = systemText(bed.double.bodies[0]!);
  expect(system).toMatch(/^House rule for Ada\.\n\n\{name\} stays, Ada is known, asked: hi/);
});

it('keeps a static instruction first and tells the model the dynamic one with the turn', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'helper' } }] }, 'ok', 'ok');
  const chat = await bed.chat('briefed', { state: { name: 'Ada' } });
  await chat.say('hi');

  await chat.say('and now?');

  const body = bed.double.bodies[2]!;
  expect(systemText(body)).toMatch(/^House rule for Ada\.\n\nStatic words about \{name\}\./);
  expect(systemText(body)).not.toContain('Only the root');
  expect(transcript(body).slice(-2)).toEqual(['user: Dynamic words about Ada.', 'user: and now?']);
});

it('asks for JSON by schema and stores what comes as an object', async () => {
  bed.double.answer(() => '{"word":"tree","count":3}');
  const chat = await bed.chat('typed_yaml');

  await chat.say('count');

  expect(bed.double.bodies[0]?.generationConfig).toMatchObject({
    responseMimeType: 'application/json',
    temperature: 0.5,
    maxOutputTokens: 64,
  });
  expect(JSON.stringify(bed.double.bodies[0]?.generationConfig)).toContain('"count"');
  expect((await chat.session()).state).toEqual({ answer: { word: 'tree', count: 3 } });
});

it.each(['{"word":"tree"}', 'a tree, three times'])('keeps the text %s that does not fit the schema', async (text) => {
  bed.double.answer(() => text);
  const chat = await bed.chat('typed_yaml');

  await chat.say('count');

  expect((await chat.session()).state).toEqual({ answer: text });
});

it('takes a structured answer through a tool beside other tools, and asks again for what does not fit', async () => {
  bed.double.answerInTurn(
    { calls: [{ name: 'thermometer', args: { city: 'Bonn' } }] },
    { calls: [{ name: 'set_model_response', args: { city: 'Bonn', degrees: 'warm' } }] },
    { calls: [{ name: 'set_model_response', args: { city: 'Bonn', degrees: 21 } }] },
  );
  const chat = await bed.chat('structured');

  const events = await chat.say('report');

  expect(toolNames(bed.double.bodies[0]!)).toEqual(['thermometer', 'set_model_response']);
  expect(bed.double.bodies[0]?.generationConfig?.['responseSchema']).toBeUndefined();
  expect(lastResponses(bed.double.bodies[2]!)).toMatchObject([
    { name: 'set_model_response', response: { error: expect.stringContaining('degrees') } },
  ]);
  expect(outline(events).slice(-3)).toEqual([
    'structured: call set_model_response',
    'structured: response set_model_response',
    'structured: {"city":"Bonn","degrees":21}',
  ]);
  expect(events.at(-1)?.content?.role).toBe('model');
  expect((await chat.session()).state).toEqual({ report: { city: 'Bonn', degrees: 21 } });
  expect(bed.double.requests).toHaveLength(3);
});

it('runs the other calls of the answer that brings the final one', async () => {
  bed.double.answerInTurn({
    calls: [
      { name: 'thermometer', args: { city: 'Bonn' } },
      { name: 'set_model_response', args: { city: 'Bonn', degrees: 1 } },
    ],
  });

  const events = await (await bed.chat('structured')).say('report');

  expect(outline(events)).toEqual([
    'structured: call thermometer | call set_model_response',
    'structured: response thermometer | response set_model_response',
    'structured: {"city":"Bonn","degrees":1}',
  ]);
});

it('ends quietly once an agent has made all its steps', async () => {
  bed.double.answer(() => ({ calls: [{ name: 'again' }] }));
  const chat = await bed.chat('stepper');

  const events = await chat.say('go');

  expect(bed.double.requests).toHaveLength(2);
  expect(outline(events)).toEqual([
    'stepper: call again',
    'stepper: response again',
    'stepper: call again',
    'stepper: response again',
  ]);
  bed.double.answer(() => 'done');
  expect(outline(await chat.say('go on'))).toEqual(['stepper: done']);
});

it('shows a plan made in the open as a thought, and passes thinking settings on', async () => {
  bed.double.answerInTurn('/*PLANNING*/ 1. Think. /*FINAL_ANSWER*/ Forty-two.', 'agreed');
  const chat = await bed.chat('planned');

  const [planned] = await chat.say('why?');

  expect(systemText(bed.double.bodies[0]!)).toContain('/*FINAL_ANSWER*/');
  expect(planned?.content?.parts?.map((part) => part.thought === true)).toEqual([true, false]);
  expect(textOf(planned).trim()).toBe('Forty-two.');
  expect((await chat.session()).state).toMatchObject({ answer: expect.stringMatching(/^\s*Forty-two\.$/) });
  expect(bed.double.bodies[1]?.generationConfig).toMatchObject({
    thinkingConfig: { includeThoughts: true, thinkingBudget: 99 },
  });
});

it('shows the model examples found for the message', async () => {
  bed.double.answer(() => 'ok');

  await (await bed.chat('shown')).say('the query');

  const system = systemText(bed.double.bodies[0]!);
  expect(system).toMatch(/^Translate\./);
  expect(system).toContain('like the query');
  expect(system).toContain('wie gezeigt');
  expect(declarations(bed.double.bodies[0]!)).toEqual([]);
});

it('refuses generation settings that have an option of their own', async () => {
  await bed.server.fetchJson('/apps/forbidden/users/u/sessions/s', { json: {} });
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] };

  const { status, body } = await bed.server.fetchJson('/run', {
    json: { appName: 'forbidden', userId: 'u', sessionId: 's', newMessage },
  });

  expect(status).toBe(500);
  expect(body).toMatchObject({ detail: expect.stringContaining('"systemInstruction"') });
});
