import { expect, it } from 'vitest';
import { openBed } from './bed.ts';

const bed = await openBed(
  { plain: { 'root_agent.yaml': { name: 'plain', model: 'gemini-2.5-flash', instruction: 'Work.' } } },
  (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'the-other-key' }),
);

it('takes the key from GEMINI_API_KEY too', async () => {
  bed.double.answer(() => 'fine');

  await (await bed.chat('plain')).say('hi');

  expect(bed.double.requests[0]!.headers['x-goog-api-key']).toBe('the-other-key');
});
