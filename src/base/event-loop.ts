import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of one turn of the event loop after which those who go on by themselves let others in. */
const sliceMs = 10;

let turnBeganMs: number | undefined;

const endTurn = (): void => {
  turnBeganMs = undefined;
};

/**
 * For work that may never wait by itself, such as a run whose model and tools answer at once: call it at each step and
 * await what it gives. `undefined` means go on. All callers share the time of a turn. Without it such work would keep
 * timers, sockets and signals waiting, and so whatever could stop it.
 */
export function yieldWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (turnBeganMs === undefined) {
    turnBeganMs = now;
    setImmediate(endTurn);
    return undefined;
  }
  return now - turnBeganMs < sliceMs ? undefined : nextTurn();
}
