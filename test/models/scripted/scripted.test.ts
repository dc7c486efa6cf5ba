import { expect, it } from 'vitest';
import { ModelError, type ModelRequest, type ModelResponse } from '../../../src/core/model.ts';
import { scriptedModel } from '../../../src/models/scripted/scripted.ts';
import type { Content, Part } from '../../../src/schemas/content.ts';
import type { Script } from '../../../src/schemas/script.ts';

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const answered = (...tools: [name: string, response: Record<string, unknown>][]): Content => ({
  role: 'user',
  parts: tools.map(([name, response]) => ({ functionResponse: { name, response } })),
});

function ask(script: Script, contents: Content[], more: Partial<ModelRequest> = {}): Promise<ModelResponse[]> {
  const request: ModelRequest = { model: 'scripted', contents, config: {}, stream: false, ...more };
  return Array.fromAsync(scriptedModel(script).generate(request, AbortSignal.timeout(5_000)));
}

async function partsOf(script: Script, contents: Content[], more?: Partial<ModelRequest>): Promise<Part[]> {
  const responses = await ask(script, contents, more);
  expect(responses).toHaveLength(1);
  return responses[0]?.content?.parts ?? [];
}

it('answers by the first rule whose pattern is in the last user message, whatever its case', async () => {
  const script = [{ match: 'cats?', text: 'meow' }, { match: 'CAT', text: 'never' }, { text: 'hello' }];

  expect(await partsOf(script, [user('dogs'), { role: 'model', parts: [{ text: 'x' }] }, user('My CAT')])).toEqual([
    { text: 'meow' },
  ]);
  expect(await partsOf(script, [user('a cat'), user('a dog')])).toEqual([{ text: 'hello' }]);
});

it('matches what the user said, not what other agents said after it', async () => {
  const context = { role: 'user', parts: [{ text: 'For context:' }, { text: '[a] said: refund' }] };

  expect(await partsOf([{ match: 'refund', text: 'no' }, { text: 'yes' }], [user('hi'), context])).toEqual([
    { text: 'yes' },
  ]);
});

it('calls functions with the groups of the pattern, typed as the tool declares them', async () => {
  const script = [
    { match: 'roll (\\d+) (\\w+)', calls: [{ name: 'roll', args: { count: '$1', what: '$2', note: '$$5 $2s' } }] },
  ];
  const parameters = {
    type: 'object',
    properties: { count: { type: 'integer' }, what: { type: 'string' }, note: { type: 'string' } },
  };
  const config = { tools: [{ functionDeclarations: [{ name: 'roll', description: '', parameters }] }] };

  expect(await partsOf(script, [user('roll 3 die')], { config })).toEqual([
    { functionCall: { name: 'roll', args: { count: 3, what: 'die', note: '$5 dies' } } },
  ]);
});

it('answers after a tool with values from its response', async () => {
  const script = [
    {
      after: 'weather',
      text: '${weather.days.0.sky} ${weather.missing}${weather.__proto__}${other.x}, ${weather.days}',
    },
    { text: 'never' },
  ];

  expect(await partsOf(script, [user('hi'), answered(['weather', { days: [{ sky: 'blue' }] }])])).toEqual([
    { text: 'blue , [{"sky":"blue"}]' },
  ]);
});

it('uses the answers of earlier steps of the same turn, and passes values on as they are', async () => {
  const script = [{ after: 'second', calls: [{ name: 'third', args: { list: '${first.items}', n: '${second.n}' } }] }];
  const contents = [
    answered(['first', { items: ['old'] }]),
    user('go'),
    answered(['first', { items: [1, 2] }]),
    answered(['second', { n: 7 }]),
  ];

  expect(await partsOf(script, contents)).toEqual([{ functionCall: { name: 'third', args: { list: [1, 2], n: 7 } } }]);
});

it('waits for every tool of a list, and falls back to the rule without conditions', async () => {
  const script = [
    { match: 'hi', text: 'not after a tool' },
    { after: ['a', 'b'], text: 'both' },
    { after: 'a', text: 'one' },
    { text: 'any' },
  ];

  expect(await partsOf(script, [user('hi'), answered(['b', {}], ['a', {}])])).toEqual([{ text: 'both' }]);
  expect(await partsOf(script, [user('hi'), answered(['a', {}])])).toEqual([{ text: 'one' }]);
  expect(await partsOf(script, [user('hi'), answered(['c', {}])])).toEqual([{ text: 'any' }]);
});

it('streams thought and chunks as partials, then everything as one whole', async () => {
  const script = [{ thought: 'hm', chunks: ['Hel', 'lo'], calls: [{ name: 'f', id: 'c1' }] }];

  const responses = await ask(script, [user('x')], { stream: true });

  expect(responses.map(({ content, partial }) => [content?.parts, partial])).toEqual([
    [[{ text: 'hm', thought: true }], true],
    [[{ text: 'Hel' }], true],
    [[{ text: 'lo' }], true],
    [
      [{ text: 'hm', thought: true }, { text: 'Hello' }, { functionCall: { name: 'f', id: 'c1', args: {} } }],
      undefined,
    ],
  ]);
  expect(responses.at(-1)).toMatchObject({ finishReason: 'STOP', usageMetadata: { promptTokenCount: 1 } });
  expect(await partsOf(script, [user('x')])).toHaveLength(3);
});

it('reports an error as a response, after the chunks it began with', async () => {
  const script = [{ chunks: ['a'], error: { code: 'SAFETY', message: 'no' } }];

  expect(await ask(script, [user('x')], { stream: true })).toEqual([
    { content: { role: 'model', parts: [{ text: 'a' }] }, partial: true },
    { errorCode: 'SAFETY', errorMessage: 'no' },
  ]);
});

it.each([
  [{ code: 'UNAVAILABLE', throw: true }, 'SERVER_ERROR'],
  [{ code: 'X', message: 'm', throw: true, category: 'AUTH_ERROR' }, 'AUTH_ERROR'],
] as const)('throws %j', async (error, category) => {
  const failure = ask([{ error }], [user('x')]);

  await expect(failure).rejects.toBeInstanceOf(ModelError);
  await expect(failure).rejects.toMatchObject({ category, providerCode: error.code });
});

it('says so when no rule fits', async () => {
  expect(await ask([{ match: 'a', text: 'b' }], [user('x')])).toEqual([
    { errorCode: 'SCRIPT_NO_MATCH', errorMessage: 'No rule of the script fits this request' },
  ]);
});

it('stops waiting when the signal aborts', async () => {
  const leaving = new AbortController();
  const request: ModelRequest = { model: 'm', contents: [user('x')], config: {}, stream: true };
  const stream = scriptedModel([{ chunks: ['a', 'b'], delayMs: 60_000 }]).generate(request, leaving.signal);
  const first = stream[Symbol.asyncIterator]().next();

  leaving.abort(new Error('left'));

  await expect(first).rejects.toThrow('left');
});

it('gives every call parts of its own, so that callers may change them', async () => {
  const model = scriptedModel([{ text: 'a' }]);
  const request: ModelRequest = { model: 'm', contents: [user('x')], config: {}, stream: false };
  const signal = new AbortController().signal;
  const [one] = await Array.fromAsync(model.generate(request, signal));
  const [two] = await Array.fromAsync(model.generate(request, signal));

  expect(one).toEqual(two);
  expect(one?.content).not.toBe(two?.content);
  expect(one?.content?.parts[0]).not.toBe(two?.content?.parts[0]);
});

it('estimates more tokens for a longer history', async () => {
  const counts = await Promise.all(
    [1, 100, 1000].map(async (turns) => {
      const [whole] = await ask([{ text: 'a' }], Array<Content>(turns).fill(user('12345678')));
      return whole?.usageMetadata?.promptTokenCount;
    }),
  );

  expect(counts).toEqual([2, 200, 2000]);
});

it('refuses a script that is none', () => {
  expect(() => scriptedModel([{ txt: 'a' } as never])).toThrow('Invalid script: ✖ unknown key "txt"');
});

it('gives up a pattern that a text was made to stall', async () => {
  const model = scriptedModel([{ match: String.raw`^(\w+\s?)+$`, text: 'words' }]);
  const said = `${'a'.repeat(40)}!`;
  const request = { model: 'm', contents: [{ role: 'user', parts: [{ text: said }] }], config: {}, stream: false };

  await expect(Array.fromAsync(model.generate(request, new AbortController().signal))).rejects.toThrow('took longer');
});
