/**
 * The words of a text: runs of Unicode letters and digits, with case and compatibility forms folded. Combining marks belong
 * to their letter; otherwise Indic words would split at each vowel sign.
 */
export function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu),
  );
}
