/** The known word most similar to a misspelled one, if any is similar enough; case, `-` and `_` do not count. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  const wanted = plain(word);
  let best: string | undefined;
  let least = Math.ceil(wanted.length / 3) + 1;
  for (const candidate of known) {
    const edits = distance(wanted, plain(candidate));
    if (edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

/** The end of an error message: ` (did you mean "x"?)`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = closest(word, known);
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
}

const plain = (word: string): string => word.slice(0, 64).toLowerCase().replaceAll(/[-_]/g, '');

/** Levenshtein distance: letters to insert, delete or replace to turn `a` into `b`. */
function distance(a: string, b: string): number {
  const others = b.split('');
  let row = [0, ...others.map((_, index) => index + 1)];
  for (const [index, letter] of a.split('').entries()) {
    const next = [index + 1];
    for (const [column, other] of others.entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
