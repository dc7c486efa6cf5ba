import { type RefObject, useEffect } from 'react';
import { setQuery } from '../../app/place.ts';
import type { Row } from '../../log/rows.ts';

interface Steps {
  readonly rows: readonly Row[];
  /** Position of the selected row; -1 when none is. */
  readonly current: number;
  readonly scroller: RefObject<HTMLElement | null>;
}

/** Goes through the rows: by one, or from turn to turn. */
export type Step = 'next' | 'previous' | 'next-turn' | 'previous-turn';

const listeners = new Set<(step: Step) => void>();

/** Moves the selection of the conversation on the screen. */
export const takeStep = (step: Step): void => listeners.forEach((listener) => listener(step));

function target({ rows, current }: Steps, step: Step): number {
  const from = current < 0 ? rows.length : current;
  if (step === 'next') return Math.min(rows.length - 1, from + 1);
  if (step === 'previous') return Math.max(0, from - 1);
  const forward = step === 'next-turn';
  let index = from + (forward ? 1 : -1);
  while (rows[index] && rows[index]?.kind !== 'user') index += forward ? 1 : -1;
  return rows[index] ? index : current;
}

/** Obeys the keys j, k, [ and ]. */
export function useSteps(steps: Steps): void {
  useEffect(() => {
    const onStep = (step: Step): void => {
      const event = steps.rows[target(steps, step)]?.event;
      if (!event) return;
      setQuery({ e: event.id }, { replace: true });
      setTimeout(() => {
        const row = steps.scroller.current?.querySelector<HTMLElement>('[data-selected=true]');
        row?.focus({ preventScroll: true });
      }, 60);
    };
    listeners.add(onStep);
    return () => void listeners.delete(onStep);
  });
}
