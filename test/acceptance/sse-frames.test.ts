import { expect, it } from 'vitest';
import { readFrames } from '../support/sse-frames.ts';

it('reads frames, skips comments, keeps the id and the unfinished rest', () => {
  const { frames, rest } = readFrames(': ping\n\ndata: {"a":1}\n\nid: r:2\ndata: {"b":"x"}\n\ndata: {"c"');

  expect(frames).toEqual([
    { data: { a: 1 }, json: '{"a":1}' },
    { data: { b: 'x' }, json: '{"b":"x"}', id: 'r:2' },
  ]);
  expect(rest).toBe('data: {"c"');
});

it.each([
  ['no space after the colon', 'data:{"a":1}\n\n'],
  ['JSON over several lines', 'data: {\ndata: "a":1}\n\n'],
  ['an event line', 'event: error\ndata: {"a":1}\n\n'],
  ['CRLF', 'data: {"a":1}\r\n\r\n'],
  ['a sentinel', 'data: [DONE]\n\n'],
  ['a bare value', 'data: null\n\n'],
  ['a third newline', 'data: {"a":1}\n\n\ndata: {"a":1}\n\n'],
])('refuses %s', (_title, text) => {
  expect(() => readFrames(text)).toThrow(/./);
});
