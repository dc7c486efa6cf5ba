import { setImmediate as nextIteration } from 'node:timers/promises';

/** Milliseconds that one event-loop iteration may take before `yieldWhenDue` lets other work in. */
const sliceMs = 10;

let iterationBeganMs: number | undefined;

const endIteration = (): void => {
  iterationBeganMs = undefined;
};

/**
 * For loops that may never wait for I/O, such as a run whose model and tools return at once: call it at each step and
 * await its result. `undefined` means: continue. All callers share the time of an iteration. Without it such a loop
 * would block timers, sockets and signals, including those that could stop it.
 */
export function yieldWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (iterationBeganMs === undefined) {
    iterationBeganMs = now;
    setImmediate(endIteration);
    return undefined;
  }
  return now - iterationBeganMs < sliceMs ? undefined : nextIteration();
}

let iterationEnd: Promise<void> | undefined;

/**
 * Resolves when the event loop has handled all input that it read at once. Responses that wait for it leave back to back:
 * a write to a sleeping reader has to wake it, which costs more than the rest of a small response.
 */
export function endOfIteration(): Promise<void> {
  return (iterationEnd ??= new Promise((resolve) => {
    setImmediate(() => {
      iterationEnd = undefined;
      resolve();
    });
  }));
}
