import { expect, it } from 'vitest';
import { closest, didYouMean } from '../../src/base/closest.ts';

it.each([
  ['instructions', 'instruction'],
  ['instructon', 'instruction'],
  ['sub-agents', 'subAgents'],
  ['SUB_AGENTS', 'subAgents'],
  ['prot', 'port'],
])('takes %j for %j', (word, meant) => {
  expect(closest(word, ['instruction', 'subAgents', 'port', 'model'])).toBe(meant);
});

it('takes a word that is like none for none', () => {
  expect(closest('zebra', ['instruction', 'port', 'model'])).toBeUndefined();
  expect(didYouMean('zebra', ['model'])).toBe('');
});

it('prefers the nearest of several', () => {
  expect(closest('mode', ['node', 'model', 'mood'])).toBe('node');
  expect(closest('modell', ['node', 'model', 'models'])).toBe('model');
});

it('phrases the hint', () => {
  expect(didYouMean('modle', ['model'])).toBe(' (did you mean "model"?)');
});
