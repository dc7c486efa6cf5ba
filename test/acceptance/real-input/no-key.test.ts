import { expect, it } from 'vitest';
import { openBed } from './bed.ts';
import { outline } from './conversation.ts';

const agent = { name: 'plain', model: 'gemini-2.5-flash', instruction: 'Work.' };
const bed = await openBed(
  {
    plain: { 'root_agent.yaml': agent },
    scripted: { 'root_agent.yaml': { ...agent, script: [{ match: 'hello', text: 'Hello!' }, { text: 'Pardon?' }] } },
  },
  () => ({}),
);

it('says which variable is missing when a model has no key, and asks nobody', async () => {
  const chat = await bed.chat('plain');

  const { status, headers, body } = await chat.run('hi');

  expect(status).toBeGreaterThanOrEqual(500);
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect((body as { detail: string }).detail).toContain('GOOGLE_API_KEY');
  expect(bed.double.requests).toEqual([]);
});

it('answers from the script of an agent while its model has no key', async () => {
  const chat = await bed.chat('scripted');

  expect(outline(await chat.say('oh hello there'))).toEqual(['plain: Hello!']);
  expect(outline(await chat.stream('what'))).toContain('plain: Pardon?');
  expect(bed.double.requests).toEqual([]);
});
