import { expect, it } from 'vitest';
import { limitedExec } from '../../src/base/limited-regexp.ts';

it.each([
  [/hotels? (?:in|for) ([^?.!]+)/i, 'Any hotel in Paris?'],
  [/(\w)\1/, 'letter'],
  [/(?<=\$)\d+/, `${'x'.repeat(5_000)}$42`],
  [/^(\w+\s?)+$/, 'two words'],
  [/x/, 'nothing of it'],
])('finds with %s what JavaScript finds', (pattern, text) => {
  expect(limitedExec(pattern, text)).toEqual(pattern.exec(text));
});

it.each([
  [/^(\w+\s?)+$/, `${'a'.repeat(40)}!`],
  [/^(?:a|aa)+$/, `${'a'.repeat(60)}!`],
  [/^(a{0,9}){0,9}(a{0,9}){0,9}$/, `${'a'.repeat(60)}!`],
  [/(x+x+)+y/, 'x'.repeat(40)],
  [/(.*)(.*)(.*)\1z/, 'x'.repeat(2_000)],
])('gives up %s on a text made for it', (pattern, text) => {
  expect(() => limitedExec(pattern, text)).toThrow('took longer');
});

it('goes on searching after it gave up', () => {
  expect(() => limitedExec(/(x+x+)+y/, 'x'.repeat(40))).toThrow('took longer');

  expect(limitedExec(/(x+x+)+y/, 'xxy')?.[0]).toBe('xxy');
});
