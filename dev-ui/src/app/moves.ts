import { type RefObject, useEffect } from 'react';
import { setQuery } from './location.ts';

/** The list that the keys move through: rows or events, from the first to the last. */
interface MovableList {
  /** The event id of each item. */
  readonly ids: (index: number) => string | undefined;
  readonly count: number;
  /** Position of the selected one; -1 when none is. */
  readonly current: number;
  /** Whether a turn begins with an item. */
  readonly beginsTurn: (index: number) => boolean;
  readonly scroller: RefObject<HTMLElement | null>;
}

/** One item forward or back, by turn, or by match of the filter, which wraps around. */
export type Move = 'next' | 'previous' | 'next-turn' | 'previous-turn' | 'next-match' | 'previous-match';

const listeners = new Set<(move: Move) => void>();

/** Moves the selection of the view on the screen. */
export const moveSelection = (move: Move): void => listeners.forEach((listener) => listener(move));

/** The target of a move. Several rows may stand for one event: a move passes them all. */
function target({ ids, count, current, beginsTurn }: MovableList, move: Move): number {
  const by = move.startsWith('next') ? 1 : -1;
  const goesAround = move.endsWith('match');
  const fits = (index: number): boolean => ids(index) !== ids(current) && (!move.endsWith('turn') || beginsTurn(index));
  let index = current < 0 && !(goesAround && by > 0) ? count : current;
  for (let tries = 0; tries < count; tries += 1) {
    index += by;
    if (goesAround) index = (index + count) % count;
    if (index < 0 || index >= count) break;
    if (fits(index)) return index;
  }
  return current < 0 ? count - 1 : current;
}

/** Lets a list handle the keys j, k, [, ], n and N. */
export function useMoves(list: MovableList): void {
  useEffect(() => {
    const onMove = (move: Move): void => {
      const id = list.ids(target(list, move));
      if (id === undefined) return;
      setQuery({ e: id }, { replace: true });
      setTimeout(() => {
        const row = list.scroller.current?.querySelector<HTMLElement>('[data-selected=true]');
        row?.focus({ preventScroll: true });
      }, 60);
    };
    listeners.add(onMove);
    return () => void listeners.delete(onMove);
  });
}
