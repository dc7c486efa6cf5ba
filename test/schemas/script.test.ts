import { expect, it } from 'vitest';
import { z } from 'zod';
import { scriptSchema } from '../../src/schemas/script.ts';

const problems = (script: unknown): string => {
  const parsed = scriptSchema().safeParse(script);
  return parsed.success ? 'none' : z.prettifyError(parsed.error);
};

it('reads a script with every kind of rule', () => {
  const script = [
    { match: 'weather in (\\w+)', calls: [{ name: 'get_weather', args: { city: '$1' } }] },
    { after: ['get_weather'], text: '${get_weather.report}' },
    { match: 'stream', thought: 'hm', chunks: ['a', 'b'], delayMs: 5 },
    { match: 'boom', error: { code: 'RESOURCE_EXHAUSTED', message: 'quota', throw: true, category: 'RATE_LIMITED' } },
    { text: 'Hello!' },
  ];

  expect(scriptSchema().parse(script)).toEqual(script);
});

it('reads delay_ms as delayMs', () => {
  expect(scriptSchema().parse([{ text: 'a', delay_ms: 3 }])).toEqual([{ text: 'a', delayMs: 3 }]);
});

it.each([
  [[{ txt: 'a' }], 'unknown key "txt" (did you mean "text"?)'],
  [[{ calls: [{ name: 'f', arguments: {} }] }], 'unknown key "arguments", known keys: name, args, id'],
  [[{ match: '(' }], 'is not a regular expression'],
  [[{ text: 'a', chunks: ['b'] }], 'either text or chunks'],
  [[{ text: 'a', delayMs: -1 }], 'delayMs'],
  [{ text: 'a' }, 'expected array'],
])('refuses %j', (script, message) => {
  expect(problems(script)).toContain(message);
});
