import { stem } from './stem.ts';

// Scripts without spaces between words: each character, with its combining marks, counts as a word.
const ideograph = /[\u4e00-\u9fff\u3040-\u309f\u30a0-\u30ff\uac00-\ud7af]/u;
const unspaced = /[\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f]/u;
const mark = /\p{M}/u;
const wordSign = /[\p{L}\p{N}\p{M}]/u;

/** The words of a text as in ADK's response match score: ASCII words are reduced to their stem. */
export function wordsOf(text: string): string[] {
  let spaced = '';
  for (const sign of text.normalize('NFKC').toLowerCase()) {
    if (ideograph.test(sign)) spaced += ` ${sign} `;
    else if (unspaced.test(sign)) spaced += mark.test(sign) ? sign : ` ${sign}`;
    else spaced += wordSign.test(sign) ? sign : ' ';
  }
  const words = spaced.split(' ').filter((word) => word !== '');
  return words.map((word) => (word.length > 3 && /^[a-z0-9]+$/.test(word) ? stem(word) : word));
}

export interface Overlap {
  readonly precision: number;
  readonly recall: number;
  readonly fmeasure: number;
}

/** ROUGE-1: the number of words that two texts share, each counted as often as both contain it. */
export function rouge1(reference: string, candidate: string): Overlap {
  const expected = countsOf(wordsOf(reference));
  const given = countsOf(wordsOf(candidate));
  let shared = 0;
  for (const [word, count] of expected) shared += Math.min(count, given.get(word) ?? 0);
  const precision = shared / Math.max(total(given), 1);
  const recall = shared / Math.max(total(expected), 1);
  const fmeasure = precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
  return { precision, recall, fmeasure };
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const total = (counts: ReadonlyMap<string, number>): number => counts.values().reduce((sum, count) => sum + count, 0);
