import { expect, it } from 'vitest';
import { lastResponses, systemText, toolNames, transcript } from '../../support/gemini-request.ts';
import { outline } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';

const bed = await openBed();
const named = { state: { name: 'Ada' } };

it('puts a filled-in text in front of every instruction', async () => {
  bed.double.answer(() => 'ok');

  await (await bed.chat('plugged', named)).say('hi');

  expect(systemText(bed.double.bodies[0]!)).toBe('Be kind to Ada.\n\nWork.');
});

it('shows the model the latest turns only, calls and responses together', async () => {
  bed.double.answerInTurn('one', { calls: [{ name: 'files_read' }] }, 'two', 'three');
  const chat = await bed.chat('plugged', named);
  for (const text of ['first', 'second', 'third']) await chat.say(text);

  expect(transcript(bed.double.bodies.at(-1)!)).toEqual([
    'user: second',
    'model: call files_read({})',
    'user: response files_read {"result":"read"}',
    'model: two',
    'user: third',
  ]);
  expect((await chat.session()).events).toHaveLength(8);
});

it('has the model try a failing tool again, and then give it up', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'fail' }] }, { calls: [{ name: 'fail' }] }, 'I give up');

  await (await bed.chat('plugged', named)).say('go');

  const [first] = lastResponses(bed.double.bodies[1]!);
  const [second] = lastResponses(bed.double.bodies[2]!);
  expect(first?.response).toMatchObject({
    response_type: 'ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN',
    error_type: 'RangeError',
    error_details: 'Out of range',
    retry_count: 1,
  });
  expect(second?.response).toMatchObject({ retry_count: 2, reflection_guidance: expect.stringContaining('again') });
});

it('offers a part of a toolset under other names, as plugins allow', async () => {
  bed.double.answer(() => 'ok');
  await (await bed.chat('plugged', named)).say('hi');
  await (await bed.chat('plugged', { state: { ...named.state, locked: true } })).say('hi');

  expect(bed.double.bodies.map(toolNames)).toEqual([
    ['files_read', 'files_write', 'fail'],
    ['files_read', 'fail'],
  ]);
});

it('leaves tool calls to the client when asked to', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'files_read' }] }, 'done');
  const chat = await bed.chat('plugged', named);

  const events = await chat.say('go', { runConfig: { pauseOnToolCalls: true } });
  const { id = '', name = '' } = events[0]?.content?.parts?.[0]?.functionCall ?? {};
  const rest = await chat.say([{ functionResponse: { id, name, response: { result: 'from the client' } } }]);

  expect(outline([...events, ...rest])).toEqual(['plugged: call files_read', 'plugged: done']);
  expect(lastResponses(bed.double.bodies[1]!)).toMatchObject([{ response: { result: 'from the client' } }]);
});

it('keeps uploads as artifacts and tells the model their names', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('plugged', named);
  const data = Buffer.from('a,b').toString('base64');

  await chat.say([{ text: 'look' }, { inlineData: { mimeType: 'text/csv', data } }], {
    runConfig: { saveInputBlobsAsArtifacts: true },
  });

  const { events } = await chat.session();
  const file = `artifact_${events[0]?.invocationId}_1`;
  expect(events[0]?.actions.artifactDelta).toEqual({ [file]: 0 });
  expect(JSON.stringify(bed.double.bodies[0]?.contents)).toContain(file);
  expect(JSON.stringify(bed.double.bodies[0]?.contents)).not.toContain(data);
  const { body } = await bed.server.fetchJson(`${chat.path}/artifacts/${file}`);
  expect(body).toMatchObject({ inlineData: { mimeType: 'text/csv', data } });
});

it('remembers earlier sessions: beforehand, and when the model asks', async () => {
  bed.double.answer(() => 'noted');
  const earlier = await bed.chat('helped', { userId: 'ada' });
  await earlier.say('My parrot is called Polly');
  const { status } = await bed.server.fetchJson('/apps/helped/users/ada/memory', {
    method: 'PATCH',
    json: { sessionId: earlier.sessionId },
  });
  bed.double.forget();
  bed.double.answerInTurn({ calls: [{ name: 'load_memory', args: { query: 'parrot' } }] }, 'Polly');

  await (await bed.chat('helped', { userId: 'ada' })).say('What is my parrot called?');

  expect(status).toBeLessThan(300);
  expect(systemText(bed.double.bodies[0]!)).toContain('My parrot is called Polly');
  expect(toolNames(bed.double.bodies[0]!)).toEqual(['load_memory']);
  expect(JSON.stringify(lastResponses(bed.double.bodies[1]!))).toContain('Polly');
});
