import { type RefObject, useEffect } from 'react';
import { setQuery } from './place.ts';

/** What the keys go through: rows or events, from the first to the last. */
interface Steps {
  /** The event of each of them. */
  readonly ids: (index: number) => string | undefined;
  readonly count: number;
  /** Position of the selected one; -1 when none is. */
  readonly current: number;
  /** Whether a turn begins with it. */
  readonly beginsTurn: (index: number) => boolean;
  readonly scroller: RefObject<HTMLElement | null>;
}

/** One on or back, around the ends in `match` steps, or from turn to turn. */
export type Step = 'next' | 'previous' | 'next-turn' | 'previous-turn' | 'next-match' | 'previous-match';

const listeners = new Set<(step: Step) => void>();

/** Moves the selection of the view on the screen. */
export const takeStep = (step: Step): void => listeners.forEach((listener) => listener(step));

/** Where a step leads; several rows may stand for one event, which is one step. */
function target({ ids, count, current, beginsTurn }: Steps, step: Step): number {
  const by = step.startsWith('next') ? 1 : -1;
  const goesAround = step.endsWith('match');
  const fits = (index: number): boolean => ids(index) !== ids(current) && (!step.endsWith('turn') || beginsTurn(index));
  let index = current < 0 && !(goesAround && by > 0) ? count : current;
  for (let tries = 0; tries < count; tries += 1) {
    index += by;
    if (goesAround) index = (index + count) % count;
    if (index < 0 || index >= count) break;
    if (fits(index)) return index;
  }
  return current < 0 ? count - 1 : current;
}

/** Obeys the keys j, k, [, ], n and N. */
export function useSteps(steps: Steps): void {
  useEffect(() => {
    const onStep = (step: Step): void => {
      const id = steps.ids(target(steps, step));
      if (id === undefined) return;
      setQuery({ e: id }, { replace: true });
      setTimeout(() => {
        const row = steps.scroller.current?.querySelector<HTMLElement>('[data-selected=true]');
        row?.focus({ preventScroll: true });
      }, 60);
    };
    listeners.add(onStep);
    return () => void listeners.delete(onStep);
  });
}
