import { expect, it } from 'vitest';
import { rouge1, wordsOf } from '../../src/evaluation/metrics/rouge.ts';
import { stem } from '../../src/evaluation/metrics/stem.ts';

// Expected, given, and precision, recall and F measure as google-adk 2.13.0 with rouge-score 0.1.2 computes them.
it.each([
  ['The quick brown fox jumps over the lazy dog', 'The quick brown dog jumps on the log.', 0.75, 0.666667, 0.705882],
  ['testing one two', 'testing', 1, 0.333333, 0.5],
  ['The cat was found under the bed', 'the cat was under the bed', 1, 0.857143, 0.923077],
  ['They deployed the displays successfully', 'He deploys a display, with success', 0.5, 0.6, 0.545455],
  ['police killed the gunman', 'police kill the gunman', 1, 1, 1],
  ['police killed the gunman', 'the gunman kill police', 1, 1, 1],
  ['', '', 0, 0, 0],
  ['nothing', '', 0, 0, 0],
  ['café crème brûlée', 'cafe creme brulee', 0, 0, 0],
  ['今天天气很好', '今天天气不好', 0.833333, 0.833333, 0.833333],
  ['สวัสดีครับ', 'สวัสดีค่ะ', 0.666667, 0.571429, 0.615385],
  ['I rolled a 17 sided die twice: 13 and 4.', 'Rolled 13 and 4 with a 17-sided die.', 0.888889, 0.8, 0.842105],
  ['a_b c-d e.f', 'a b c d e f', 1, 1, 1],
  ['ﬁne １２', 'fine 12', 1, 1, 1],
  ['Привет мир', 'привет, мир!', 1, 1, 1],
  ['the the the cat', 'the cat cat', 0.666667, 0.5, 0.571429],
])('scores %j against %j as ADK does', (expected, given, ...[precision, recall, fmeasure]) => {
  const score = rouge1(expected, given);

  expect(score.precision).toBeCloseTo(precision, 6);
  expect(score.recall).toBeCloseTo(recall, 6);
  expect(score.fmeasure).toBeCloseTo(fmeasure, 6);
});

// Stems as NLTK's Porter stemmer gives them by default.
it.each([
  ['caresses', 'caress'],
  ['ponies', 'poni'],
  ['skies', 'sky'],
  ['lies', 'lie'],
  ['died', 'die'],
  ['spied', 'spi'],
  ['enjoy', 'enjoy'],
  ['happy', 'happi'],
  ['agreed', 'agre'],
  ['feed', 'feed'],
  ['plastered', 'plaster'],
  ['hopping', 'hop'],
  ['falling', 'fall'],
  ['filing', 'file'],
  ['additionally', 'addit'],
  ['relational', 'relat'],
  ['carefully', 'care'],
  ['geology', 'geolog'],
  ['adoption', 'adopt'],
  ['replacement', 'replac'],
  ['controlling', 'control'],
  ['exceed', 'exceed'],
  ['news', 'news'],
  ['axes', 'axe'],
  ['syzygy', 'syzygi'],
])('takes %s for a form of %s', (word, expected) => {
  expect(stem(word)).toBe(expected);
});

it('stems words of more than three letters only', () => {
  expect(wordsOf('Dogs ran, was 1999s')).toEqual(['dog', 'ran', 'was', '1999']);
});
