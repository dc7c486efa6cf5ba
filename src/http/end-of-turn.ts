let turn: Promise<void> | undefined;

/**
 * Resolves when the event loop has handed out everything it read at once. Answers that wait for it leave back to back:
 * a write that finds its reader asleep has to wake it, which costs more than the rest of a small answer.
 */
export function endOfTurn(): Promise<void> {
  return (turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  }));
}
