/** Repeats `act`, which returns a count, until the count is below `size`. Returns the sum. */
export async function inBatches(size: number, signal: AbortSignal, act: () => Promise<number>): Promise<number> {
  for (let count = 0; ;) {
    signal.throwIfAborted();
    const done = await act();
    count += done;
    if (done < size) return count;
  }
}
