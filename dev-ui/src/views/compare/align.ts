import { diffArrays } from 'diff';
import type { ComparedEvent } from './compared-event.ts';

/** A line of the comparison: equal on both sides, different, or on one side only. */
export interface Pair {
  readonly left: ComparedEvent | undefined;
  readonly right: ComparedEvent | undefined;
  readonly isSame: boolean;
}

/** Longest edit script of the search for equal events; beyond it both sides are listed without a match. */
const mostEdits = 2_000;

/** Aligns two histories so that equal events are on the same line. */
export function align(left: readonly ComparedEvent[], right: readonly ComparedEvent[]): Pair[] {
  let shared = 0;
  while (shared < left.length && shared < right.length && left[shared]?.signature === right[shared]?.signature)
    shared += 1;
  const pairs: Pair[] = left
    .slice(0, shared)
    .map((event, index) => ({ left: event, right: right[index], isSame: true }));
  const restLeft = left.slice(shared);
  const restRight = right.slice(shared);
  const changes = diffArrays(
    restLeft.map(({ signature }) => signature),
    restRight.map(({ signature }) => signature),
    { maxEditLength: mostEdits },
  ) ?? [
    { value: restLeft, removed: true, added: false },
    { value: restRight, removed: false, added: true },
  ];
  let leftAt = 0;
  let rightAt = 0;
  let removed: ComparedEvent[] = [];
  const flush = (added: readonly ComparedEvent[]): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      pairs.push({ left: removed[index], right: added[index], isSame: false });
    }
    removed = [];
  };
  for (const change of changes) {
    const { length } = change.value;
    if (change.removed) {
      flush([]);
      removed = restLeft.slice(leftAt, leftAt + length);
      leftAt += length;
    } else if (change.added) {
      flush(restRight.slice(rightAt, rightAt + length));
      rightAt += length;
    } else {
      flush([]);
      for (let index = 0; index < length; index += 1) {
        pairs.push({ left: restLeft[leftAt + index], right: restRight[rightAt + index], isSame: true });
      }
      leftAt += length;
      rightAt += length;
    }
  }
  flush([]);
  return pairs;
}

/** A shown line: a pair, or several equal pairs that are folded. */
export type Line =
  | { readonly kind: 'pair'; readonly pair: Pair; readonly index: number; readonly isFirst: boolean }
  | { readonly kind: 'fold'; readonly from: number; readonly count: number };

/** Equal pairs shown before and after a difference. */
const around = 2;
const leastFold = 4;

/** The lines to show: long stretches of equal pairs are folded unless the user opened them. */
export function linesOf(pairs: readonly Pair[], opened: ReadonlySet<number>): Line[] {
  const first = pairs.findIndex(({ isSame }) => !isSame);
  const lines: Line[] = [];
  const show = (from: number, to: number): void => {
    for (const [offset, pair] of pairs.slice(from, to).entries()) {
      lines.push({ kind: 'pair', pair, index: from + offset, isFirst: from + offset === first });
    }
  };
  let at = 0;
  while (at < pairs.length) {
    let end = at;
    while (end < pairs.length && pairs[end]?.isSame) end += 1;
    const from = at === 0 ? at : at + around;
    const to = end === pairs.length ? end : end - around;
    if (to - from >= leastFold && !opened.has(from)) {
      show(at, from);
      lines.push({ kind: 'fold', from, count: to - from });
      show(to, end);
    } else show(at, end);
    show(end, end + 1);
    at = end + 1;
  }
  return lines;
}
