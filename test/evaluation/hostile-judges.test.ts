import { expect, it } from 'vitest';
import { judgementOf } from '../../src/evaluation/metrics/hallucinations.ts';
import { jsonField } from '../../src/evaluation/metrics/judge.ts';
import { scoresIn } from '../../src/evaluation/metrics/rubrics.ts';

// Each of these took minutes when a pattern looked at each blank once more from every blank before it.
const blanks = ['\n', ' ', '\n* ', ' \n'].map((piece) => `${piece.repeat(500_000)}\n`);
const rubrics = [{ rubricId: 'r1', rubricContent: { textProperty: 'polite' } }] as Parameters<typeof scoresIn>[1];

it.each(blanks)('reads what judges answer through any number of blanks', (blank) => {
  expect(jsonField(`{"verdict":${blank}x`, 'verdict')).toSatisfy((value) => value === undefined || value === 'x');
  expect(judgementOf(`sentence: a${blank}label: supported${blank}x`)).toBeDefined();
  expect(scoresIn(`ID: r1${blank}Property: polite\nVerdict: yes${blank}x`, rubrics)).toMatchObject([{ score: 1 }]);
});
