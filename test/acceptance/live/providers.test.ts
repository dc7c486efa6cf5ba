import { afterAll, expect, it } from 'vitest';
import { messageStream } from '../../support/anthropic-double.ts';
import { LiveClient, outline } from '../../support/live-client.ts';
import { completionStream } from '../../support/openai-double.ts';
import { openProviderBed } from './provider-bed.ts';

const models = {
  claude_app: 'claude-sonnet-4-5',
  openai_app: 'openai/gpt-4.1',
  gemini_app: 'gemini-2.5-flash',
} as const;

const bed = await openProviderBed(models);
const { double, gemini } = bed;
double.answer(({ path }) =>
  path.endsWith('/messages')
    ? messageStream({ content: [{ type: 'text', text: 'Hello' }] })
    : completionStream({ message: { content: 'Hello' } }),
);
gemini.answer(() => ({ chunks: ['Hel', 'lo'] }));
afterAll(() => bed.close());

it.each(Object.keys(models))('holds a conversation of text with %s, in fragments', async (app) => {
  const key = await bed.session(app);
  const client = await LiveClient.connect(bed.url, key);

  const first = await client.ask('hi');
  await client.ask('again');
  await client.close();

  expect(outline(first)).toEqual([
    `${app}: Hel + partial`,
    `${app}: lo + partial`,
    `${app}: Hello`,
    `${app}: turnComplete`,
  ]);
  const sent = JSON.stringify(app === 'gemini_app' ? gemini.bodies.at(-1) : double.requests.at(-1)?.body);
  for (const said of ['"hi"', '"Hello"', '"again"']) expect(sent).toContain(said);
  expect(outline(await bed.stored(key))).toEqual(['user: hi', `${app}: Hello`, 'user: again', `${app}: Hello`]);
});
