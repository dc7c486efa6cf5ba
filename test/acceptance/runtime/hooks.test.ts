import { expect, it } from 'vitest';
import { lastResponses, lastText } from '../../support/gemini-request.ts';
import { type Conversation, outline, textOf } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';

const bed = await openBed();
const everybody = ['first', 'second', 'own'];
const asked = (hook: string, ...who: string[]): string[] => who.map((name) => `${name} ${hook}`);

/** The hooks asked so far, those of single events left out. */
async function log(chat: Conversation): Promise<string[]> {
  const [answer] = await chat.say('log');
  return textOf(answer)
    .split('\n')
    .filter((line) => !line.endsWith('onEvent') && !line.endsWith('onUserMessage'));
}

const run = { start: asked('beforeRun', 'first', 'second'), end: asked('afterRun', 'first', 'second') };
const agent = { start: asked('beforeAgent', ...everybody), end: asked('afterAgent', ...everybody) };
const model = { start: asked('beforeModel', ...everybody), end: asked('afterModel', ...everybody, 'later') };
const tool = { start: asked('beforeTool', ...everybody), end: asked('afterTool', ...everybody) };
const callTouch = { calls: [{ name: 'touch', args: { it: 1 } }] };

it('asks every hook in order, plugins before the agent', async () => {
  bed.double.answerInTurn(callTouch, 'done');
  const chat = await bed.chat('hooked');

  const events = await chat.say('go');

  expect(outline(events)).toEqual(['hooked: call touch', 'hooked: response touch', 'hooked: done']);
  expect(await log(chat)).toEqual([
    ...run.start,
    ...agent.start,
    ...model.start,
    ...model.end,
    ...tool.start,
    'tool run',
    ...tool.end,
    ...model.start,
    ...model.end,
    ...agent.end,
    ...run.end,
  ]);
  expect(lastResponses(bed.double.bodies[1]!)[0]?.response).toEqual({ it: 1, by: 'own' });
});

it('shows every event to the plugins, and the user message before anything else', async () => {
  bed.double.answer(() => 'hello');
  const chat = await bed.chat('hooked');

  await chat.say('go');

  const all = textOf((await chat.say('log'))[0]).split('\n');
  expect(all.slice(0, 4)).toEqual([
    ...asked('onUserMessage', 'first', 'second'),
    ...asked('beforeRun', 'first', 'second'),
  ]);
  expect(all.filter((line) => line.endsWith('onEvent'))).toEqual(asked('onEvent', 'first', 'second'));
});

it('lets the first answer to the user message win, and stores it', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('hooked');

  await chat.say('say onUserMessage of first;');

  expect(lastText(bed.double.bodies[0]!)).toBe('something else');
  expect(outline((await chat.session()).events)).toEqual(['user: something else', 'hooked: ok']);
});

it('answers a run in the place of its agent, and stores that as the model said it', async () => {
  const chat = await bed.chat('hooked');

  const events = await chat.say('say beforeRun of first;');

  expect(outline(events)).toEqual(['model: first run']);
  expect(outline((await chat.session()).events).slice(1)).toEqual(['model: first run']);
  expect(bed.double.requests).toEqual([]);
  expect(await log(chat)).toEqual(['first beforeRun', ...run.end]);
});

it('answers in the place of an agent, and asks nobody after it', async () => {
  const chat = await bed.chat('hooked');

  const events = await chat.say('say beforeAgent of second;');

  expect(outline(events)).toEqual(['hooked: second agent']);
  expect(await log(chat)).toEqual([...run.start, ...asked('beforeAgent', 'first', 'second'), ...run.end]);
});

it('adds what is said after an agent to what it said', async () => {
  bed.double.answer(() => 'body');
  const chat = await bed.chat('hooked');

  expect(outline(await chat.say('say afterAgent of own;'))).toEqual(['hooked: body', 'hooked: own added']);
});

it('answers in the place of a model, without asking those after it', async () => {
  const chat = await bed.chat('hooked');

  const events = await chat.say('say beforeModel of second;');

  expect(outline(events)).toEqual(['hooked: second model']);
  expect(bed.double.requests).toEqual([]);
  expect(await log(chat)).toEqual([
    ...run.start,
    ...agent.start,
    ...asked('beforeModel', 'first', 'second'),
    ...agent.end,
    ...run.end,
  ]);
});

it('replaces the answer of a model', async () => {
  bed.double.answer(() => 'body');
  const chat = await bed.chat('hooked');

  expect(outline(await chat.say('say afterModel of own;'))).toEqual(['hooked: own replaced']);
  expect((await log(chat)).filter((line) => line.endsWith('afterModel'))).toEqual(asked('afterModel', ...everybody));
});

it('shows fragments of a streamed answer to the hooks after a model', async () => {
  bed.double.answer(() => ({ chunks: ['a', 'b'] }));
  const chat = await bed.chat('hooked');

  await chat.stream('go');

  const calls = (await log(chat)).filter((line) => line === 'first afterModel');
  expect(calls).toHaveLength(3);
});

it('answers in the place of a tool, and asks those after it', async () => {
  bed.double.answerInTurn(callTouch, 'done');
  const chat = await bed.chat('hooked');

  await chat.say('say beforeTool of first; say afterTool of own;');

  expect(lastResponses(bed.double.bodies[1]!)[0]?.response).toEqual({ early: 'first', after: 'own' });
  const lines = await log(chat);
  expect(lines.filter((line) => line.endsWith('Tool'))).toEqual(['first beforeTool', ...tool.end]);
  expect(lines).not.toContain('tool run');
});

it('mends the failure of a tool, and asks those after it about what mended it', async () => {
  bed.double.answerInTurn(callTouch, 'done');
  const chat = await bed.chat('hooked');

  await chat.say('throw run of tool; say onToolError of second; say afterTool of first;');

  expect(lastResponses(bed.double.bodies[1]!)[0]?.response).toEqual({ mended: 'second', after: 'first' });
  const lines = (await log(chat)).filter((line) => /onToolError|afterTool/.test(line));
  expect(lines).toEqual([...asked('onToolError', 'first', 'second'), 'first afterTool']);
});

it('lets the model know why a tool failed that nobody mended', async () => {
  bed.double.answerInTurn(callTouch, 'done');
  const chat = await bed.chat('hooked');

  await chat.say('throw run of tool;');

  expect(lastResponses(bed.double.bodies[1]!)[0]?.response).toEqual({ error: 'No run' });
  expect((await log(chat)).filter((line) => /onToolError/.test(line))).toEqual(asked('onToolError', ...everybody));
});

it('mends the failure of a model, and asks those after it about what mended it', async () => {
  bed.double.answer(() => ({ failure: { status: 400, message: 'no' } }));
  const chat = await bed.chat('hooked');

  const events = await chat.say('say onModelError of own;');

  expect(outline(events)).toEqual(['hooked: own mended']);
  const lines = (await log(chat)).filter((line) => /Model/.test(line));
  expect(lines).toEqual([...model.start, ...asked('onModelError', ...everybody), ...model.end]);
});

it('tells every plugin of a run that fails, and that it is over', async () => {
  bed.double.answer(() => ({ failure: { status: 400, message: 'no' } }));
  const chat = await bed.chat('hooked');

  const events = await chat.stream('go');

  expect(events.some((event) => event.errorCode !== undefined)).toBe(true);
  const lines = await log(chat);
  expect(lines.slice(-4)).toEqual([...asked('onRunError', 'first', 'second'), ...run.end]);
  expect(lines).not.toContain('own afterAgent');
});

it.each(['onUserMessage', 'beforeRun', 'onEvent', 'beforeAgent', 'beforeModel', 'beforeTool'])(
  'ends a run whose plugin fails in %s with an error that names both, and serves the next one',
  async (hook) => {
    bed.double.answerInTurn(callTouch, 'done', 'fine');
    const chat = await bed.chat('hooked');

    const { status, body } = await chat.run(`throw ${hook} of second;`);

    expect(status).toBe(500);
    expect(body).toMatchObject({ detail: expect.stringContaining(`Plugin "second" failed in ${hook}`) });
    bed.double.answer(() => 'fine');
    expect(outline(await chat.say('go')).at(-1)).toBe('hooked: fine');
  },
);
