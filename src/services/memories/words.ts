/**
 * The words of a text: runs of Unicode letters and digits, case and compatibility forms folded. Marks count as part
 * of their letter, or Indic words would fall apart at each vowel sign.
 */
export function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu),
  );
}
